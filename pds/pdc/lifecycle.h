// The state of one end of a PDC, and the only way to change it: an event for which the table of its
// role has a row. What is remembered besides the state is here, too, with the reason why it is no
// state. [PDS 5]
#pragma once

#include "pds/pdc/pdc_state.h"

#include "wire/code_points.h"

#include <cstdint>
#include <span>

namespace uet::pds {

// What happens to a PDC, as far as PDS 5 has a row for it.
enum class PdcEvent : uint8_t {
  opened,           // a message is assigned, or an acceptable SYN has come
  start_needed,     // a SYN has come that must begin elsewhere (secured)
  start_given,      // the SYN begins where the target said, or the target said where
  start_wrong,      // a SYN begins elsewhere, still
  first_ack,        // the peer's PDCID is known
  packet_sent,      // a request, or return data of a target
  acked,            // ACK or SACK
  request,          // a request of the peer, or return data
  message,          // the client has a message for the same key
  refused_for_now,  // no resources over there, or here
  stranger,         // a packet of a PDC that is not known here
  close_wanted,     // idle, pressure, PSN range, or the peer asks
  messages_sent,    // what was started is sent, and nothing keeps the PDC open
  all_answered,     // both ways: the Close command has gone
  close_acked,      // the Close command is acknowledged
  close_void,       // the peer has no such PDC, or closed it before
  closed_in_err,    // the peer closed it in error
  close_resent,     // the time-out of the Close command
  close_given_up,   // the peer does not answer the Close command
  close_command,    // target: it came, and nothing is owed
  close_too_early,  // target: it came while return packets are unanswered
  close_held,       // target: it came, and a lower PSN is missing
  beyond_close,     // target: a request above the close PSN
  peer_done,        // NACK CLOSING for packets that were sent: they get their answers, no others
  orphaned,         // NACK INV_DPDCID: the peer's side is gone, verdicts are awaited
  expired,          // New_PDC_Time or Close_REQ_Time is over
  failed,           // retries exhausted, fatal NACK, abort
  freed,            // the peer needs no notice
};

// The name in words, for logs and tests. Never null.
const char* name(PdcEvent event);

// One row: in any of the states of `from`, `event` leads to `next`, or to where it was.
struct LifecycleRow {
  const char* rule;  // of PDS 5, or of the section that adds the row
  uint16_t from;     // bit i: state i
  PdcEvent event;
  PdcState next;
  bool stays = false;  // the state is the one before; `next` says nothing

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
  // Goes to the next state. Asserts that the table has a row for it.
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

  // --- records beside the state ---

  // The close is wanted. In SYN it cannot begin, because it needs the peer's PDCID: a row that goes
  // to another state would have that state do all that SYN does. [PDS-I22]
  void note_close_asked() { close_asked_ = true; }
  bool close_asked() const { return close_asked_; }
  // The peer is done with the PDC: what was sent on it gets its answers, nothing else does. It goes
  // on in whatever state it is: a state of its own would double QUIESCE to CLOSE_WAIT. [PDS-120]
  void note_draining() { is_draining_ = true; }
  bool is_draining() const { return is_draining_; }
  // Target: the Close command has come, and waits for lower PSNs: the row T15 stays. [PDS-T15]
  void note_close_received() { close_received_ = true; }
  bool close_received() const { return close_received_; }
  // Initiator: the NACK that said the peer's side is gone. It is ERROR, and sends nothing.
  // [PDS-190]
  void note_orphaned_by(wire::NackCode code) { orphaned_by_ = code; }
  wire::NackCode orphaned_by() const { return orphaned_by_; }
  bool is_orphan() const { return orphaned_by_ != wire::NackCode{}; }

 private:
  PdcState state_ = PdcState::closed;
  bool is_initiator_ : 1 = false;
  bool close_asked_ : 1 = false;
  bool is_draining_ : 1 = false;
  bool close_received_ : 1 = false;
  wire::NackCode orphaned_by_{};
};

}  // namespace uet::pds
