// What NSCC takes for a queue where nothing marks or trims, and hosts make round trips longer, too.
// [decision 16]
#pragma once

#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::cms {

class QueueSigns {
 public:
  // A window of fewer octets doubles in a round trip; 0: none does.
  explicit QueueSigns(uint32_t doubles_below) : doubles_below_(doubles_below) {}

  // The mean delay after a sample.
  void add(Duration mean) {
    const auto ns = static_cast<uint32_t>(std::min(mean.ns(), int64_t{UINT32_MAX}));
    peak_ns_ = std::max(peak_ns_ - peak_ns_ / 512, ns);
  }
  // A mean delay beyond this counts as a mark: hosts cause shorter ones, or few long ones.
  static bool is_mark(Duration mean) { return mean > Duration::milliseconds(1); }
  // A queue that overflows is as long as it was ever of late, and a part of the round trip.
  bool is_full(Duration mean, Duration base_rtt) const {
    return mean > base_rtt / 4 && mean.ns() >= int64_t{peak_ns_} * 3 / 4;
  }

  uint32_t doubles_below() const { return doubles_below_; }
  void double_below(uint64_t bytes) {
    doubles_below_ = static_cast<uint32_t>(std::min<uint64_t>(bytes, UINT32_MAX));
  }

 private:
  uint32_t peak_ns_ = 0;  // of the mean; fades with the samples, by half in 350
  uint32_t doubles_below_;
};

}  // namespace uet::cms
