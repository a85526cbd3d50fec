// When the next packet of a context may leave. A window spreads over a round trip instead of
// leaving at once, where that is configured: NSCC needs no pacing in fabrics of short round trips.
// Senders that are too many for a port send less than a packet in a round trip.
#pragma once

#include "cms/config.h"
#include "cms/events.h"
#include "cms/sparse_sending.h"

#include <algorithm>

namespace uet::cms {

class Pacer {
 public:
  explicit Pacer(const Config& config)
      : gain_percent_(static_cast<uint16_t>(config.pacing_percent)),
        burst_bytes_(config.pacing_burst_bytes) {}

  bool is_on() const { return gain_percent_ != 0 || sparse_.is_on(); }
  // Less than a packet leaves in a round trip. [CMS-195]
  bool is_sparse() const { return sparse_.is_on(); }
  void on_acked(const Acked& e) {
    if (!is_on()) return;
    if (e.packets != 0) sparse_.on_arrived(e.ecn);
    if (e.rtt_valid) add_rtt(e.rtt);
  }
  // A packet that is cut although the window has no room for two shows that the senders are too
  // many. Where credit is in use, it answers for the last hop. [CMS-097, CMS-195]
  void on_lost(const Lost& e, uint64_t window_bytes, bool has_credit) {
    const bool is_cut =
        e.kind == LossKind::trimmed || (e.kind == LossKind::trimmed_lasthop && !has_credit);
    if (!is_cut || window_bytes >= 2 * e.bytes) return;
    if (e.rtt_valid) add_rtt(e.rtt);
    sparse_.on_cut();
  }
  // `window_bytes` leave in a round trip, times the gain.
  void on_sent(const Sent& e, uint64_t window_bytes) {
    if (gain_percent_ != 0) spread(e, window_bytes);
    if (!sparse_.is_on()) return;
    earliest_ = std::max(earliest_, e.at + sparse_.on_sent(srtt_, e.ev));
  }
  Instant earliest() const { return earliest_; }

 private:
  static constexpr int64_t kRttMaxNs = 1'000'000'000;

  void add_rtt(Duration rtt) {
    srtt_ = srtt_ == Duration::zero() ? rtt : srtt_ + (rtt - srtt_) / 8;
  }
  void spread(const Sent& e, uint64_t window_bytes) {
    if (srtt_ == Duration::zero()) return;  // the first window goes unpaced
    const uint64_t rate = std::max<uint64_t>(1, window_bytes * gain_percent_ / 100);
    const auto time_of = [&](uint64_t bytes) {
      return Duration::nanoseconds(static_cast<int64_t>(
          bytes * static_cast<uint64_t>(std::min<int64_t>(srtt_.ns(), kRttMaxNs)) / rate));
    };
    next_ = std::max(next_, e.at) + time_of(e.bytes);
    earliest_ = next_ - time_of(burst_bytes_);
  }

  Instant next_;
  Instant earliest_;
  Duration srtt_;
  uint16_t gain_percent_;
  SparseSending sparse_;
  uint32_t burst_bytes_;
};

}  // namespace uet::cms
