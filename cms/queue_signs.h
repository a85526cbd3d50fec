// The signs by which NSCC knows a queue where switches neither mark nor trim, and where hosts make
// round trips longer as well. [decision 16]
#pragma once

#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::cms {

class QueueSigns {
 public:
  // A window of fewer octets than `doubles_below` doubles in a round trip; 0: none does.
  explicit QueueSigns(uint32_t doubles_below) : doubles_below_(doubles_below) {}

  // The mean delay after a sample.
  void add(Duration mean) {
    peak_ns_ = std::max(peak_ns_ - peak_ns_ / 512, of(mean));
    low_ns_ = std::min(low_ns_, of(mean));
  }
  // Whether the mean delay is long enough to count as a mark. Only for destinations that report how
  // long packets waited for a processor there. Hosts also cause delays, but short ones, or few.
  static bool is_mark(Duration mean) { return mean > kMark; }
  // The path is long: a window that a loss has reduced would need hundreds of milliseconds to grow
  // back. An unknown round trip, which is one second, does not count. [CMS-197]
  static bool is_far(Duration base_rtt) {
    return base_rtt >= Duration::microseconds(750) && base_rtt < Duration::seconds(1);
  }
  // The delay that the window aims at; on a short way `near`.
  static Duration target(Duration near, Duration base_rtt) {
    return is_far(base_rtt) ? std::max(near, kFarTarget) : near;
  }
  // Whether a queue may overflow now: the delay is near its recent peak, and by more than a quarter
  // of the base RTT above `low`, the part of the delay with other causes.
  bool is_full(Duration mean, Duration low, Duration base_rtt) const {
    const int64_t queue_ns = (mean - low).ns();
    return queue_ns > base_rtt.ns() / 4 && queue_ns >= (int64_t{peak_ns_} - low.ns()) * 3 / 4;
  }
  // Lowest mean since a loss made the window smaller.
  Duration low() const { return Duration::nanoseconds(int64_t{low_ns_}); }

  // Octets were lost. True: the losses exceed a sixteenth of what has arrived by a quarter of the
  // window. Random losses alone are not that many.
  bool are_many(uint32_t bytes, uint64_t window) {
    lost_ = of_octets(std::min(uint64_t{lost_} + bytes, window));
    return lost_ > window / 4;
  }

  // A loss makes the window smaller. On a long way it soon returns to where it was, but only half
  // as far if it was not yet back from the last such loss, and not at all if it was doubling.
  // [CMS-197]
  void on_cut(uint64_t before, uint64_t after, Duration mean) {
    low_ns_ = of(mean);
    if (before < doubles_below_) {
      goal_ = 0;
    } else {
      goal_ = before < goal_ ? of_octets((before + after) / 2) : of_octets(before);
    }
    double_below(after / 2);
  }
  // Octets that a round trip adds to return to `goal_`: half of what is missing if there is no
  // delay, none at the target.
  uint32_t step_back(uint64_t window, Duration delay, Duration base_rtt) const {
    if (window >= goal_ || !is_far(base_rtt) || delay >= kFarTarget) return 0;
    const auto missing = static_cast<int64_t>(goal_ - window);
    return static_cast<uint32_t>(missing * (kFarTarget - delay).ns() / kFarTarget.ns() / 2);
  }

  // Octets that a round trip with that delay adds: `most` without one, none at the target, or what
  // returns after a loss.
  uint32_t step(uint32_t most, Duration near, Duration delay, uint64_t window,
                Duration base_rtt) const {
    const int64_t target_ns = target(near, base_rtt).ns();
    const int64_t usual = most * std::max<int64_t>(target_ns - delay.ns(), 0) / target_ns;
    return std::max(static_cast<uint32_t>(usual), step_back(window, delay, base_rtt));
  }

  uint32_t doubles_below() const { return doubles_below_; }
  void double_below(uint64_t bytes) { doubles_below_ = of_octets(bytes); }
  // The same after a time-out. It is taken back if the time-out came too early; an answer before
  // that makes it final. [CMS-194]
  void double_below_for_now(uint64_t bytes) {
    before_timeouts_ = std::max(before_timeouts_, doubles_below_);
    double_below(bytes);
  }
  // The context is as a new one.
  void begin_anew() { goal_ = lost_ = 0; }
  void on_early_timeouts() {
    doubles_below_ = std::max(doubles_below_, before_timeouts_);
    before_timeouts_ = 0;
  }
  // Octets have arrived.
  void on_answer(uint32_t bytes) {
    if (before_timeouts_ != 0) goal_ = 0;
    before_timeouts_ = 0;
    lost_ -= std::min(lost_, bytes / 16);
  }

 private:
  static constexpr Duration kMark = Duration::milliseconds(1);
  // Twice the usual delays of hosts, so that the window grows in spite of them.
  static constexpr Duration kFarTarget = Duration::microseconds(400);

  static uint32_t of_octets(uint64_t bytes) {
    return static_cast<uint32_t>(std::min<uint64_t>(bytes, UINT32_MAX));
  }
  static uint32_t of(Duration time) {
    return static_cast<uint32_t>(std::clamp<int64_t>(time.ns(), 1, UINT32_MAX));
  }

  uint32_t peak_ns_ = 0;          // of the mean; fades with the samples, by half in 350
  uint32_t low_ns_ = 0;           // of the mean since the last such loss
  uint32_t doubles_below_;        // octets
  uint32_t goal_ = 0;             // window before the last loss that took some of it; 0: none
  uint32_t lost_ = 0;             // octets, less a sixteenth of what has arrived since
  uint32_t before_timeouts_ = 0;  // doubles_below_ before the time-outs since the last answer; or 0
};

}  // namespace uet::cms
