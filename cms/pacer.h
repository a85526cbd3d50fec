// When the next packet of a context may leave, so that a window spreads over a round trip instead
// of leaving at once. Off unless configured: NSCC needs no pacing in fabrics of short round trips.
#pragma once

#include "cms/config.h"
#include "cms/events.h"

#include <algorithm>

namespace uet::cms {

class Pacer {
 public:
  explicit Pacer(const Config& config)
      : gain_percent_(config.pacing_percent), burst_bytes_(config.pacing_burst_bytes) {}

  bool is_on() const { return gain_percent_ != 0; }
  void on_rtt(Duration rtt) {
    if (!is_on()) return;
    srtt_ = srtt_ == Duration::zero() ? rtt : srtt_ + (rtt - srtt_) / 8;
  }
  // `window_bytes` leave in a round trip, times the gain.
  void on_sent(const Sent& e, uint64_t window_bytes) {
    if (srtt_ == Duration::zero()) return;  // the first window goes unpaced
    const uint64_t rate = std::max<uint64_t>(1, window_bytes * gain_percent_ / 100);
    const auto time_of = [&](uint64_t bytes) {
      return Duration::nanoseconds(static_cast<int64_t>(
          bytes * static_cast<uint64_t>(std::min<int64_t>(srtt_.ns(), kRttMaxNs)) / rate));
    };
    next_ = std::max(next_, e.at) + time_of(e.bytes);
    earliest_ = next_ - time_of(burst_bytes_);
  }
  Instant earliest() const { return earliest_; }

 private:
  static constexpr int64_t kRttMaxNs = 1'000'000'000;

  Instant next_;
  Instant earliest_;
  Duration srtt_;
  uint32_t gain_percent_;
  uint32_t burst_bytes_;
};

}  // namespace uet::cms
