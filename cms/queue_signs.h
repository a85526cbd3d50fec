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
  void add(Duration mean) { peak_ns_ = std::max(peak_ns_ - peak_ns_ / 512, of(mean)); }
  // Whether the mean delay is so long that it counts as a mark. Only for destinations that report
  // how long packets waited for a processor there. Hosts also cause delays, but short ones, or few.
  static bool is_mark(Duration mean) { return mean > Duration::milliseconds(1); }
  // Whether a queue may overflow now: the delay is near its recent peak, and more than a quarter of
  // the base RTT.
  bool is_full(Duration mean, Duration base_rtt) const {
    return mean > base_rtt / 4 && mean.ns() >= int64_t{peak_ns_} * 3 / 4;
  }

  // Whether the way has become longer: a window that has been small for 10 s sends little, so even
  // the shortest round trip of that time is not its own queue. Returns that round trip, else zero.
  Duration longer_way(Duration rtt, bool is_small, Instant now) {
    const auto now_ms = static_cast<uint32_t>(now.ns() / 1'000'000);
    if (!is_small || least_ns_ == 0) {
      small_since_ms_ = now_ms;
      least_ns_ = is_small ? of(rtt) : 0;
      return Duration::zero();
    }
    least_ns_ = std::min(least_ns_, of(rtt));
    if (now_ms - small_since_ms_ < 10'000) return Duration::zero();
    const auto least = Duration::nanoseconds(int64_t{least_ns_});
    least_ns_ = 0;
    return least;
  }

  uint32_t doubles_below() const { return doubles_below_; }
  void double_below(uint64_t bytes) {
    doubles_below_ = static_cast<uint32_t>(std::min<uint64_t>(bytes, UINT32_MAX));
  }
  // The same after a time-out. It is taken back if the time-out came too early; an answer before
  // that makes it final. [CMS-194]
  void double_below_for_now(uint64_t bytes) {
    before_timeouts_ = std::max(before_timeouts_, doubles_below_);
    double_below(bytes);
  }
  void on_early_timeouts() {
    doubles_below_ = std::max(doubles_below_, before_timeouts_);
    before_timeouts_ = 0;
  }
  void on_answer() { before_timeouts_ = 0; }

 private:
  static uint32_t of(Duration time) {
    return static_cast<uint32_t>(std::clamp<int64_t>(time.ns(), 1, UINT32_MAX));
  }

  uint32_t small_since_ms_ = 0;
  uint32_t least_ns_ = 0;         // round trip since then; 0: the window is not small
  uint32_t peak_ns_ = 0;          // of the mean; fades with the samples, by half in 350
  uint32_t doubles_below_;        // octets
  uint32_t before_timeouts_ = 0;  // the same before the time-outs since the last answer; 0: none
};

}  // namespace uet::cms
