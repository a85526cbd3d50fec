// The record of one posted operation: its present message, its progress, and its answers.
// Operations owns these records.
#pragma once

#include "ses/endpoint.h"
#include "ses/iov.h"
#include "ses/outgoing/remote.h"
#include "ses/types.h"

#include "base/assert.h"
#include "base/intrusive_list.h"
#include "base/serial.h"
#include "base/time.h"
#include "base/timer_wheel.h"
#include "wire/code_points.h"

#include <array>
#include <cstdint>
#include <initializer_list>

namespace uet::ses {

struct Deferral;
struct Exposure;

// state \ event | released | start    | all answered        | refused, retryable   | cancelled
// held          | queued   | -        | -                   | -                    | ended
// queued        | -        | started  | -                   | held, by another one | ended
// started       | -        | -        | ended, or next part | waiting, held, queued | ended
// waiting       | queued   | -        | -                   | -                    | ended
// exposed, deferred: see rendezvous/exposures.h and deferral/deferrals.h
struct TxMessage : ListNode<struct QueueTag>, ListNode<struct OwnedTag> {
  enum class State : uint8_t {
    held,      // in its remote's queue: a fence or a recovery is before it
    queued,    // in its flow's queue
    started,   // PDS pulls its packets or waits for their answers
    waiting,   // was refused; its timer will queue it again
    exposed,   // rendezvous: accepted, the target reads the rest at any time
    deferred,  // waits for a ready-to-restart
    ended,     // reported; its packets are still out and carry IE
  };
  // The only way to change the state; asserts that the change is in the table.
  void become(State next);
  static constexpr uint8_t kMessageTimer = 0;

  uint32_t handle = 0;  // of its slab
  State state = State::held;
  OpKind kind{};
  wire::SesOpcode opcode{};
  bool is_fenced : 1 = false;
  bool delivery_complete : 1 = false;
  bool has_data : 1 = false;
  bool is_stopped : 1 = false;           // no further packets but a MSG_ERROR
  bool is_fully_pulled : 1 = false;      // PDS will not ask for more
  bool has_semantic_answer : 1 = false;  // some response said OK [SES-149]
  bool owes_message_done : 1 = false;    // keep_pdc was asked for
  bool all_undelivered : 1 = true;       // every failed packet was certainly not executed
  bool any_undelivered : 1 = false;      // some failed packet was
  bool was_aborted : 1 = false;
  bool is_quiet : 1 = false;      // no operation waits for its answer [PDS-064]
  bool is_probe : 1 = false;      // an exposed one asks whether the target still lives
  bool may_repeat : 1 = false;    // a rest that may be read again from its start
  bool is_retained : 1 = false;   // it was reported to its user as done
  bool is_in_buffer : 1 = false;  // `copy` is one of the endpoint's buffers
  bool is_cut : 1 = false;        // ended; its resent packets are short and carry IE [LF-141]
  wire::NextHeader header = wire::NextHeader::standard;
  uint8_t ri_generation = 0;  // of this attempt: resends must not change
  uint16_t mtu = 0;           // payload octets a packet
  MessageId id;
  uint32_t segment_length = 0;  // octets of the message on the wire ...
  uint64_t segment_start = 0;   // ... which starts here in the operation [LF-131]
  uint32_t push_length = 0;     // octets that this end sends; rendezvous: not all of the message
  uint32_t next_offset = 0;     // of the next packet
  uint64_t announced = 0;       // octets that PDS expects to pull; see SendOrder::announce()
  uint32_t pulled_packets = 0;
  uint32_t answered_packets = 0;
  uint32_t failed_packets = 0;
  uint32_t data_bytes = 0;    // returned so far, of this segment
  uint32_t read_packets = 0;  // of this attempt, counted at its flow
  uint32_t pull = 0;          // the rest of a message of the peer: handle of its Pull
  uint32_t restart = 0;       // a ready-to-restart: handle of its DeferredMessage
  Exposure* exposure = nullptr;
  Deferral* deferral = nullptr;
  uint32_t result_bytes = 0;  // fetching atomic: of `result`
  AtomicCode atomic;
  pds::PdcHandle pdc;
  Remote* remote = nullptr;
  Flow* flow = nullptr;  // that carries it: its remote's, or the one of RUDI

  EndpointId endpoint;
  JobId job;
  uint32_t initiator = 0;
  uint64_t sequence = 0;    // posting order
  uint64_t match_bits = 0;  // tag or key
  uint64_t remote_offset = 0;
  uint64_t header_data = 0;
  wire::ReturnCode code{};  // first error code, or null
  pds::Failure failure;
  int local_error = 0;
  uint32_t retries = 0;
  Instant first_refused;      // zero: never
  Instant stuck_since;        // since when it is refused for reasons that no application can end;
                              // zero: not so
  std::byte* copy = nullptr;  // of its payload
  OpContext context;
  Iov memory;
  TimerNode timer{kMessageTimer};
  Iov result;  // where the old values of a fetching atomic go

  uint32_t done_packets() const { return answered_packets + failed_packets; }
  // SES itself wants it; no user waits for it.
  bool is_internal() const { return pull != 0 || restart != 0; }
  // Under which of the two generations of its index it was sent.
  bool is_tagged() const { return kind == OpKind::tagged_send && !is_probe; }
  bool is_read() const { return kind == OpKind::read; }
  bool is_atomic() const { return kind == OpKind::atomic || kind == OpKind::fetching_atomic; }
  // Octets that come back before it is over. [SES-075]
  uint32_t expected_bytes() const { return is_read() ? segment_length : result_bytes; }
  bool returns_data() const { return is_read() || kind == OpKind::fetching_atomic; }
};

// The states that may follow each state, a bit for each.
inline constexpr auto kNextStates = [] {
  using State = TxMessage::State;
  const auto bits = [](std::initializer_list<State> states) {
    unsigned all = 0;
    for (const State s : states) all |= 1U << static_cast<unsigned>(s);
    return static_cast<uint8_t>(all);
  };
  return std::array<uint8_t, 7>{
      bits({State::queued, State::ended}),                // held
      bits({State::started, State::held, State::ended}),  // queued
      bits({State::held, State::queued, State::waiting, State::exposed, State::deferred,
            State::ended}),                 // started
      bits({State::queued, State::ended}),  // waiting
      bits({State::queued, State::ended}),  // exposed
      bits({State::queued, State::ended}),  // deferred
      bits({}),                             // ended
  };
}();

inline void TxMessage::become(State next) {
  const unsigned allowed = kNextStates[static_cast<unsigned>(state)];
  UET_ASSERT((allowed >> static_cast<unsigned>(next) & 1) != 0);
  state = next;
}

}  // namespace uet::ses
