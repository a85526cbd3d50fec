// The one source of randomness of the stack: PCG64 (128-bit LCG, XSL-RR output), seeded where
// the stack is created, so that a seed repeats a run. Not for keys or anything secret.
#pragma once

#include "base/assert.h"

#include <cstdint>

namespace uet {

__extension__ using uint128 = unsigned __int128;

class Rng {
 public:
  // Different streams of one seed are different sequences. Any values are allowed.
  explicit constexpr Rng(uint64_t seed, uint64_t stream = 0)
      : increment_((uint128{stream} << 1) | 1) {
    step();
    state_ += seed;
    step();
  }

  constexpr uint64_t u64() {
    step();
    const auto folded = static_cast<uint64_t>(state_ >> 64) ^ static_cast<uint64_t>(state_);
    const auto turn = static_cast<unsigned>(state_ >> 122);
    return (folded >> turn) | (folded << ((64 - turn) & 63));
  }

  // The upper half of a u64(), the better mixed one.
  constexpr uint32_t u32() { return static_cast<uint32_t>(u64() >> 32); }

  // Uniform in [0, n), without bias; n must not be 0. Draws more than once only with probability
  // below n / 2^64.
  constexpr uint64_t below(uint64_t n) {
    UET_ASSERT(n != 0);
    uint128 product = uint128{u64()} * n;
    if (static_cast<uint64_t>(product) < n) {
      // 2^64 mod n of the low halves would make some results more likely: draw those again.
      const uint64_t surplus = (0 - n) % n;
      while (static_cast<uint64_t>(product) < surplus) product = uint128{u64()} * n;
    }
    return static_cast<uint64_t>(product >> 64);
  }

  // True with probability p; p outside [0, 1] counts as the nearer end, NaN as 0. Always draws
  // once, so that changing a probability does not shift the numbers that follow. The scaling by
  // 2^64 is exact and the comparison is between integers: every machine decides alike.
  constexpr bool chance(double p) {
    const uint64_t drawn = u64();
    if (p >= 1.0) return true;
    if (!(p > 0.0)) return false;
    return drawn < static_cast<uint64_t>(p * 0x1p64);
  }

  // A separate generator for a part of the system, so that its draws do not disturb ours.
  constexpr Rng split() {
    const uint64_t seed = u64();
    return Rng(seed, u64());
  }

 private:
  static constexpr uint128 kMultiplier =
      (uint128{0x2360ED051FC65DA4} << 64) | uint128{0x4385DF649FCCF645};

  constexpr void step() { state_ = state_ * kMultiplier + increment_; }

  uint128 state_ = 0;
  uint128 increment_;
};

}  // namespace uet
