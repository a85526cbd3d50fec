// A pseudo-random order of indices in which each comes once before any comes again, and which is
// another one in each round. [CMS-152, CMS-158]
#pragma once

#include "base/assert.h"
#include "base/rng.h"

#include <bit>
#include <cstdint>

namespace uet::cms {

class EntropyWalk {
 public:
  // size: 1-65536 indices.
  EntropyWalk(uint32_t size, Rng& rng)
      : mask_(std::bit_ceil(size) - 1), size_(size), turned_(rng.u32() & mask_) {
    UET_ASSERT(size >= 1);
  }

  // (i XOR x) mod n. If n is not a power of two the modulus is the next one, and results of n or
  // more are skipped: each index still comes once in a round. Cost: two steps on average.
  uint32_t next(Rng& rng) {
    uint32_t index = size_;
    while (index >= size_) {
      index = step_ ^ turned_;
      step_ = (step_ + 1) & mask_;
      if (step_ == 0) turned_ = rng.u32() & mask_;
    }
    return index;
  }

 private:
  uint32_t mask_;  // of the bits that an index may have
  uint32_t size_;
  uint32_t step_ = 0;  // i
  uint32_t turned_;    // x
};

}  // namespace uet::cms
