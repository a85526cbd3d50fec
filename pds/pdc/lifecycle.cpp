// The tables of both roles. [PDS 5.1, 5.2]
#include "pds/pdc/lifecycle.h"

#include "base/assert.h"

namespace uet::pds {

namespace {

using S = PdcState;
using E = PdcEvent;
using N = PdcNote;

template <class... States>
constexpr uint16_t in(States... states) {
  return static_cast<uint16_t>((0U | ... | (1U << static_cast<unsigned>(states))));
}
constexpr uint16_t kInitiator =
    in(S::syn, S::established, S::quiesce, S::ack_wait, S::close_ack_wait, S::error);
constexpr uint16_t kTarget = in(S::pending, S::established, S::close_wait, S::error);
constexpr uint16_t kOpenTarget = in(S::established, S::close_wait);
// The row does not change the state; `next` is not used.
constexpr bool kStays = true;
constexpr bool kGoes = false;

// clang-format off
constexpr LifecycleRow kInitiatorRows[] = {
    {"PDS-I1", in(S::closed), E::opened, S::syn},
    {"PDS-I3", in(S::syn), E::first_ack, S::established},
    {"PDS-I4", in(S::syn), E::start_given, S::syn},
    {"PDS-I6", in(S::syn), E::failed, S::closed},
    {"PDS-I10", in(S::established), E::close_wanted, S::quiesce, kGoes, N::close_asked},
    {"PDS-I12", in(S::quiesce), E::messages_sent, S::ack_wait},
    {"PDS-I13", in(S::ack_wait), E::all_answered, S::close_ack_wait},
    {"PDS-I14", in(S::close_ack_wait), E::close_acked, S::closed},
    {"PDS-I15", in(S::close_ack_wait), E::close_void, S::closed},
    {"PDS-I16", in(S::close_ack_wait), E::close_given_up, S::closed},
    {"PDS-I17", in(S::close_ack_wait), E::closed_in_err, S::closed},
    {"PDS-I18", in(S::established, S::quiesce, S::ack_wait), E::failed, S::error},
    {"PDS-I19", in(S::error), E::close_acked, S::closed},
    {"PDS-I19", in(S::error), E::close_void, S::closed},
    {"PDS-I19", in(S::error), E::closed_in_err, S::closed},
    {"PDS-I19", in(S::error), E::close_given_up, S::closed},
    {"PDS-I22", in(S::syn), E::close_wanted, S::syn, kGoes, N::close_asked},
    // The peer is silent, or was, while the Close or a verdict is awaited.
    {"PDS-148", in(S::close_ack_wait, S::error), E::failed, S::error},
    // The peer has no such PDC any more; one RTO is given to what it may still refuse.
    {"PDS-190", kInitiator & ~in(S::syn), E::orphaned, S::error, kGoes, N::orphan},
    // Said to be closing: the messages that began are cut off, and go on as in a close.
    {"PDS-120", kInitiator, E::peer_done, S::closed, kStays, N::draining},
    // Nothing was ever sent on it, or its failure needs no Close command.
    {"PDS-174", in(S::syn, S::error), E::freed, S::closed},
};

constexpr LifecycleRow kTargetRows[] = {
    {"PDS-T1", in(S::closed), E::opened, S::established},
    {"PDS-T2", in(S::closed), E::start_needed, S::pending},
    {"PDS-T5", in(S::pending), E::start_given, S::established},
    {"PDS-T6", in(S::pending), E::start_wrong, S::pending},
    {"PDS-T7", in(S::pending), E::expired, S::closed},
    {"PDS-T10", in(S::established), E::close_wanted, S::close_wait},
    {"PDS-T12", in(S::close_wait), E::expired, S::closed},
    {"PDS-T13", kOpenTarget, E::close_command, S::closed},
    {"PDS-T14", kOpenTarget, E::close_too_early, S::closed},
    {"PDS-T15", kOpenTarget, E::close_held, S::closed, kStays, N::close_received},
    {"PDS-T17", kTarget, E::failed, S::error},
    // ERROR of a target ends like CLOSE_WAIT.
    {"PDS-174", in(S::error), E::close_held, S::closed, kStays, N::close_received},
    {"PDS-174", in(S::error), E::close_command, S::closed},
    {"PDS-174", in(S::error), E::close_too_early, S::closed},
    {"PDS-174", in(S::error), E::expired, S::closed},
    // The peer closed the PDC while our Close Request was on its way.
    {"PDS-120", in(S::established), E::peer_done, S::close_wait, kGoes, N::draining},
    {"PDS-120", in(S::close_wait, S::error), E::peer_done, S::closed, kStays, N::draining},
    // A source that may be forged, under pressure; a SYN that was refused; all is answered after
    // the peer has closed; a failure that is not reported to the peer.
    {"PDS-181", kTarget, E::freed, S::closed},
};
// clang-format on

const LifecycleRow* find(bool is_initiator, PdcState state, PdcEvent event) {
  for (const LifecycleRow& row : lifecycle_rows(is_initiator)) {
    if (row.event == event && row.is_from(state)) return &row;
  }
  return nullptr;
}

}  // namespace

std::span<const LifecycleRow> lifecycle_rows(bool is_initiator) {
  if (is_initiator) return kInitiatorRows;
  return kTargetRows;
}

void Lifecycle::change(PdcEvent event) {
  const LifecycleRow* const row = find(is_initiator_, state_, event);
  UET_ASSERT(row != nullptr);
  if (!row->stays) state_ = row->next;
  notes_ |= static_cast<uint8_t>(row->note);
}

bool Lifecycle::may(PdcEvent event) const { return find(is_initiator_, state_, event) != nullptr; }

const char* name(PdcEvent event) {
  static constexpr const char* kNames[] = {
      "opened",          "start needed",   "start given",  "start wrong",   "first ACK",
      "close wanted",    "messages sent",  "all answered", "Close acked",   "Close void",
      "closed in error", "Close given up", "Close held",   "Close command", "Close too early",
      "peer done",       "orphaned",       "expired",      "failed",        "freed"};
  static_assert(sizeof kNames / sizeof *kNames == static_cast<size_t>(PdcEvent::freed) + 1);
  return kNames[static_cast<size_t>(event)];
}

}  // namespace uet::pds
