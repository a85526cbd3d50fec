// Times in 32 bits of 128 ns, which wrap after 9 minutes. [CMS-025]
#pragma once

#include "base/time.h"

#include <cstdint>

namespace uet::pds {

struct SentTick {
  static constexpr int kShift = 7;
  static uint32_t of(Instant t) { return static_cast<uint32_t>(t.ns() >> kShift); }
  static constexpr Duration one() { return Duration::nanoseconds(int64_t{1} << kShift); }
  // Up to 9 minutes ago, or 2 s ahead: an arrival may be stamped after `now` was read.
  static Duration since(uint32_t tick, Instant now) {
    const uint32_t ticks = of(now) - tick;
    const bool is_ahead = ticks >= 0xFF00'0000;
    const int64_t passed = is_ahead ? static_cast<int64_t>(static_cast<int32_t>(ticks)) : ticks;
    return Duration::nanoseconds(passed * (1 << kShift));
  }
  // The same for what may lie far back, where whole wraps do not matter; up to a tick too much.
  static Duration age(uint32_t tick, Instant now) {
    return Duration::nanoseconds((static_cast<int64_t>(of(now) - tick) + 1) * (1 << kShift));
  }
};

}  // namespace uet::pds
