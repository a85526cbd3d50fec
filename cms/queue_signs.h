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
    const auto ns = static_cast<uint32_t>(std::min(mean.ns(), int64_t{UINT32_MAX}));
    peak_ns_ = std::max(peak_ns_ - peak_ns_ / 512, ns);
  }
  // Whether the mean delay is so long that it counts as a mark. Only for destinations that report
  // how long packets waited for a processor there. Hosts also cause delays, but short ones, or few.
  static bool is_mark(Duration mean) { return mean > Duration::milliseconds(1); }
  // Whether a queue may overflow now: the delay is near its recent peak, and more than a quarter of
  // the base RTT.
  bool is_full(Duration mean, Duration base_rtt) const {
    return mean > base_rtt / 4 && mean.ns() >= int64_t{peak_ns_} * 3 / 4;
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
  uint32_t peak_ns_ = 0;          // of the mean; fades with the samples, by half in 350
  uint32_t doubles_below_;        // octets
  uint32_t before_timeouts_ = 0;  // the same before the time-outs since the last answer; 0: none
};

}  // namespace uet::cms
