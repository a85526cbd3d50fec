// Numbers that no peer may be able to guess: PDCIDs, Start_PSNs, keys of hash tables. The stack
// never draws them itself, it is handed a source: in production the system's generator
// (io/host/system_random.h), in simulations and tests a seeded one, so that a run can be repeated.
// [PDS-193, T-04, TSS-070]
#pragma once

#include "base/assert.h"
#include "base/rng.h"

#include <cstdint>

namespace uet {

class RandomSource {
 public:
  RandomSource() = default;
  virtual ~RandomSource() = default;
  RandomSource(const RandomSource&) = delete;
  RandomSource& operator=(const RandomSource&) = delete;

  // 64 independent random bits.
  virtual uint64_t u64() = 0;

  uint32_t u32() { return static_cast<uint32_t>(u64() >> 32); }

  // Uniform in [0, n), without bias; n must not be 0.
  uint64_t below(uint64_t n) {
    UET_ASSERT(n != 0);
    const uint64_t surplus = (0 - n) % n;  // 2^64 mod n: the number of low products to draw again
    uint128 product = 0;
    do {
      product = uint128{u64()} * n;
    } while (static_cast<uint64_t>(product) < surplus);
    return static_cast<uint64_t>(product >> 64);
  }
};

// The same numbers for the same seed. A few of them are enough to predict the rest, so this is for
// simulations and tests only.
class SeededRandom final : public RandomSource {
 public:
  explicit SeededRandom(uint64_t seed, uint64_t stream = 0) : rng_(seed, stream) {}
  uint64_t u64() override;

 private:
  Rng rng_;
};

}  // namespace uet
