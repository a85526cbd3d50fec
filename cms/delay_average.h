// The mean of the queueing delay over about a base RTT. [CMS-102 .. CMS-104]
#pragma once

#include "cms/config.h"

#include <algorithm>
#include <cstdint>

namespace uet::cms {

class DelayAverage {
 public:
  void start(Instant now) { at_ = now; }
  Duration value() const { return Duration::nanoseconds(q8_ >> 8); }
  int64_t value_q8() const { return q8_; }  // nanoseconds, in 2^-8

  // A sample counts by the time since the one before, over a base RTT. [CMS-103]
  void add_by_time(Duration sample, Duration base_rtt, Instant now) {
    const int64_t passed = std::clamp<int64_t>((now - at_).ns(), 0, base_rtt.ns());
    const int128 step = int128{(sample.ns() << 8) - q8_} * passed / base_rtt.ns();
    q8_ += static_cast<int64_t>(step);
    at_ = std::max(at_, now);
  }
  // Each sample counts alike, as the simulator htsim has it. [CMS-104]
  void add_by_count(Duration sample) { q8_ += ((sample.ns() << 8) - q8_) / kSamples; }
  // The same with a larger gain. [decision 16]
  void add_quickly(Duration sample) { q8_ += ((sample.ns() << 8) - q8_) / 16; }

 private:
  __extension__ using int128 = __int128;
  static constexpr int64_t kSamples = 80;  // a gain of 0.0125

  int64_t q8_ = 0;
  Instant at_;
};

}  // namespace uet::cms
