// Backlog and octets in flight of a congestion context, and its state, one of four. The scheduler
// serves contexts that are `ready`. [CMS-010 .. CMS-014]
#pragma once

#include "base/assert.h"

#include <cstdint>

namespace uet::cms {

// [CMS-010]
enum class ContextPhase : uint8_t {
  idle,     // nothing to send, nothing unacknowledged
  active,   // data waits, and congestion control does not let it go
  ready,    // data waits and may go: in the scheduler's list
  pending,  // all is sent, and waits for ACKs
};

// The effect of an update on the scheduler's list of ready contexts.
enum class ReadyMove : uint8_t {
  none,
  join,
  leave,
};

// Octets are nominal. The counters only count this end's own packets, so a counter below zero is an
// error of the caller and is asserted.
class ContextState {
 public:
  ContextPhase phase() const { return phase_; }
  uint64_t backlog_bytes() const { return backlog_; }      // handed down, not yet sent
  uint64_t resend_bytes() const { return resend_bytes_; }  // marked for retransmission
  uint32_t resend_packets() const { return resend_packets_; }
  uint32_t inflight_packets() const { return inflight_; }
  bool has_data() const { return backlog_ != 0 || resend_packets_ != 0; }

  void on_new_data(uint64_t bytes) { backlog_ += bytes; }  // [CMS-016]
  // Reduces the backlog: the message is given up, or needs fewer octets than announced.
  void on_withdrawn(uint64_t bytes) { take(backlog_, bytes); }
  void on_sent(uint32_t bytes, bool resend);  // [CMS-018]
  // So many packets were answered, or their PDC is gone. [CMS-019]
  void on_answered(uint32_t packets) { take(inflight_, packets); }
  // A packet in flight is lost or refused and will be sent again. [CMS-020, CMS-021]
  void on_marked(uint32_t bytes);
  // A marked packet need not be sent again: it has arrived after all, or its PDC is gone. [CMS-019]
  void on_unmarked(uint32_t bytes);

  // After each of these events, and when `can_send` may have changed: whether all algorithms in use
  // let a packet go. [CMS-011 .. CMS-013]
  [[nodiscard]] ReadyMove update(bool can_send);

 private:
  template <class Count>
  static void take(Count& from, uint64_t count) {
    UET_ASSERT(count <= from);
    from = static_cast<Count>(from - count);
  }

  uint64_t backlog_ = 0;
  uint64_t resend_bytes_ = 0;
  uint32_t resend_packets_ = 0;
  uint32_t inflight_ = 0;
  ContextPhase phase_ = ContextPhase::idle;
};

}  // namespace uet::cms
