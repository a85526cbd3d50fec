// Slow start, additive increase, multiplicative decrease: the default before NSCC. A window in use
// doubles in each round trip until the first loss or mark, or until round trips show a queue; then
// it grows by a packet in each round trip. ECN, trimming and refusals halve it, at most once in a
// round trip. A time-out sets it to the minimum, from where it doubles up to half of its old size.
// An inferred loss reduces it by the octets in the queue; where round trips show no queue, by a
// quarter of the lost packet. [decision 16]
#pragma once

#include "cms/config.h"
#include "cms/congestion_window.h"
#include "cms/events.h"

#include "base/assert.h"

#include <algorithm>

namespace uet::cms {

class AimdWindow {
 public:
  explicit AimdWindow(const Config& config);

  bool may_send(uint32_t bytes) const { return inflight_ == 0 || inflight_ + bytes <= window_; }

  void on_sent(const Sent& e) {
    inflight_ += e.bytes;
    if (inflight_ * 2 >= window_) in_use_ = true;
  }
  void on_acked(const Acked& e);
  void on_lost(const Lost& e);
  void on_forgotten(uint32_t bytes) { leave(bytes); }
  void on_early_timeouts();  // [CMS-194]

  uint64_t window_bytes() const { return window_; }
  uint64_t inflight_bytes() const { return inflight_; }
  Duration smoothed_rtt() const { return srtt_; }
  // The shortest round trip that was seen; zero: none.
  Duration shortest_rtt() const { return shortest_; }

 private:
  // The state before the time-outs since the last answer; zeros: there were none.
  struct BeforeTimeouts {
    uint64_t window = 0;
    uint64_t threshold = 0;
  };

  void leave(uint32_t bytes) {
    UET_ASSERT(bytes <= inflight_);
    inflight_ -= bytes;
  }
  bool may_decrease(Instant at) const;
  void decrease(uint64_t to, Instant at);
  bool starts_slowly() const { return window_ < threshold_; }
  void grow(uint32_t bytes);
  bool has_no_queue() const;
  uint64_t without_queue() const;
  void shrink(uint64_t bytes);

  uint64_t window_;
  uint64_t inflight_ = 0;
  uint64_t credit_ = 0;  // acknowledged octets not yet turned into window; below window_
  uint32_t mtu_;
  bool in_use_ = false;  // at least half of the window was filled since the last increase
  bool decreased_ = false;
  uint64_t min_;
  uint64_t max_;
  uint64_t threshold_;                             // the window doubles below
  Duration srtt_ = Duration::zero();               // zero: no sample yet
  Duration shortest_ = Duration::zero();           // round trip ever seen
  Duration shortest_of_round_ = Duration::zero();  // the same since a window was acknowledged
  Instant decreased_at_;
  BeforeTimeouts before_;
};
static_assert(CongestionWindow<AimdWindow>);

}  // namespace uet::cms
