// The state of one end of a PDC and the notes beside it, and the only way to change them: an event
// for which the table of its role has a row. Rows of the reference that neither change the state
// nor leave a note have no event: lifecycle_test.cpp names the part that does their work. [PDS 5]
#pragma once

#include "pds/pdc/pdc_state.h"

#include <cstdint>
#include <span>

namespace uet::pds {

// Events of a PDC that have a row in PDS 5.
enum class PdcEvent : uint8_t {
  opened,           // a message is assigned, or an acceptable SYN has come
  start_needed,     // a SYN has come that must begin elsewhere (secured)
  start_given,      // the SYN begins where the target said, or the target said where
  start_wrong,      // a SYN begins elsewhere, still
  first_ack,        // the peer's PDCID is known
  close_wanted,     // idle, pressure, PSN range, or the peer asks
  messages_sent,    // all started messages are sent, and nothing keeps the PDC open
  all_answered,     // both ways: the Close command has gone
  close_acked,      // the Close command is acknowledged
  close_void,       // the peer has no such PDC, or closed it before
  closed_in_err,    // the peer closed it in error
  close_given_up,   // the peer does not answer the Close command
  close_held,       // target: a Close command has come, and waits until all lower PSNs are there
  close_command,    // target: they are, and nothing is owed
  close_too_early,  // target: they are, and return packets are unanswered
  peer_done,        // NACK CLOSING for packets that were sent: they get their answers, no others
  orphaned,         // NACK INV_DPDCID: the peer's side is gone, verdicts are awaited
  expired,          // New_PDC_Time or Close_REQ_Time is over
  failed,           // retries exhausted, fatal NACK, abort
  freed,            // the peer needs no notice
};

// The name in words, for logs and tests. Never null.
const char* name(PdcEvent event);

// What a row leaves behind besides the state, until the PDC ends. Each of these holds in several
// states; as states they would double those, with all their rows.
enum class PdcNote : uint8_t {
  none = 0,
  // Initiator: the close is wanted. In SYN it cannot begin, because it needs the peer's PDCID, and
  // SYN goes on with all that it does, but takes no more messages. [PDS-I10, PDS-I22]
  close_asked = 1 << 0,
  // The peer is done with the PDC: what was sent on it gets its answers, nothing else does. Holds
  // from QUIESCE to CLOSE_ACK_WAIT, in CLOSE_WAIT and in ERROR. [PDS-120]
  draining = 1 << 1,
  // Target: a Close command has come. ESTABLISHED, CLOSE_WAIT and ERROR go on until the lower PSNs
  // are there. [PDS-T15]
  close_received = 1 << 2,
  // Initiator: the peer's side is gone. It is ERROR, and sends nothing, not even a Close. [PDS-190]
  orphan = 1 << 3,
};

// One row: in any of the states of `from`, `event` leads to `next`, or to where it was.
struct LifecycleRow {
  const char* rule;  // of PDS 5, or of the section that adds the row
  uint16_t from;     // bit i: state i
  PdcEvent event;
  PdcState next;
  bool stays = false;  // the state is the one before; `next` says nothing
  PdcNote note = PdcNote::none;

  constexpr bool is_from(PdcState state) const {
    return (from >> static_cast<unsigned>(state) & 1) != 0;
  }
};

// The tables of PDS 5.1 and 5.2, in their order, with the rows that other sections add at the end.
std::span<const LifecycleRow> lifecycle_rows(bool is_initiator);

class Lifecycle {
 public:
  // The role is given once, before the first event.
  void start(bool is_initiator) { is_initiator_ = is_initiator; }
  // Goes to the next state and keeps the row's note. Asserts that the table has a row for it.
  void change(PdcEvent event);
  // Whether it has one.
  bool may(PdcEvent event) const;

  PdcState state() const { return state_; }
  bool is_initiator() const { return is_initiator_; }
  bool is_open() const { return state_ == PdcState::syn || state_ == PdcState::established; }
  // Nothing will be sent on it any more but what closes it.
  bool has_failed() const { return state_ == PdcState::error || state_ == PdcState::closed; }
  // A target that asks for the Close, with or without a failure.
  bool wants_close() const {
    return state_ == PdcState::close_wait || (state_ == PdcState::error && !is_initiator_);
  }
  // An initiator that has sent the Close command.
  bool said_close() const {
    return state_ == PdcState::close_ack_wait || (state_ == PdcState::error && is_initiator_);
  }

  bool close_asked() const { return has(PdcNote::close_asked); }
  bool is_draining() const { return has(PdcNote::draining); }
  bool close_received() const { return has(PdcNote::close_received); }
  bool is_orphan() const { return has(PdcNote::orphan); }

 private:
  bool has(PdcNote note) const { return (notes_ & static_cast<uint8_t>(note)) != 0; }

  PdcState state_ = PdcState::closed;
  bool is_initiator_ = false;
  uint8_t notes_ = 0;  // PdcNote, of all rows that were taken
};

}  // namespace uet::pds
