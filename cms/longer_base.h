// When a window that stays small shows that the base RTT is longer than the shortest round trip
// measured, in software. [CMS-199, decision 16]
#pragma once

#include "base/time.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace uet::cms {

// A small window sends little, so even the shortest round trip of that time is not its own queue:
// the way has become longer, or others keep the queue filled. Senders that began while it was
// filled compare with a longer round trip, see less delay and take the share of the others.
class LongerBase {
 public:
  // A round trip was measured. Returns the base RTT: `base`, or the shortest round trip of the time
  // in which the window was small, if that is longer.
  Duration after_sample(Duration rtt, Duration base, uint64_t window, uint32_t mtu, Instant now) {
    const auto now_ms = static_cast<uint16_t>(now.ns() / 1'000'000);
    const bool is_small = window < uint64_t{kFewPackets} * mtu;
    if (!is_small || least_ == 0) {
      small_since_ms_ = now_ms;
      samples_ = 0;
      least_ = is_small ? steps_of(rtt) : 0;
      return base;
    }
    least_ = std::min(least_, steps_of(rtt));
    if (samples_ < kManySamples) ++samples_;
    const auto small_ms = static_cast<uint16_t>(now_ms - small_since_ms_);
    const bool is_late = small_ms >= kLateMs;
    const bool is_tiny = window < std::max<uint64_t>(kTinyWindow, 3 * mtu);
    if (!is_late && !(is_tiny && samples_ == kManySamples && small_ms >= kSoonMs)) return base;
    if (is_late) {
      before_ = 0;
    } else if (before_ == 0) {
      before_ = steps_of(base);
    }
    return std::max(base, kStep * std::exchange(least_, uint16_t{0}));
  }
  // A packet was lost: perhaps all senders together overfill the queue. Returns the base RTT; one
  // that has become longer within less than kLateMs is taken back.
  Duration after_loss(Duration base) {
    samples_ = 0;
    if (before_ == 0) return base;
    return std::min(base, kStep * std::exchange(before_, uint16_t{0}));
  }

 private:
  static constexpr uint32_t kFewPackets = 8;  // a window of fewer is small
  static constexpr uint16_t kLateMs = 10'000;
  // The base RTT becomes longer sooner if the window has fewer than three packets, or octets than
  // that, and so many samples were taken without a loss.
  static constexpr uint16_t kSoonMs = 500;
  static constexpr uint16_t kManySamples = 64;
  static constexpr uint64_t kTinyWindow = 12 * 1024;
  // Unit of stored round trips, the longest of which is a second.
  static constexpr Duration kStep = Duration::microseconds(16);

  static uint16_t steps_of(Duration time) {
    return static_cast<uint16_t>(std::clamp<int64_t>(time.ns() / kStep.ns(), 1, UINT16_MAX));
  }

  uint16_t small_since_ms_ = 0;  // wraps after a minute
  uint16_t samples_ = 0;         // since then or the last loss; at most kManySamples
  uint16_t least_ = 0;           // shortest round trip since then; 0: the window is not small
  uint16_t before_ = 0;          // base RTT before it became longer; 0: it has not, or for good
};

}  // namespace uet::cms
