// The system's random generator, as the stack is handed it. [PDS-193]
#pragma once

#include "base/random_source.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace uet::io {

// Draws 256 octets from the kernel at a time, which is as much as it gives without interruption,
// and forgets each number that it hands out. Not for a forked child: it would hand out the same.
class SystemRandom final : public RandomSource {
 public:
  uint64_t u64() override;

 private:
  void refill();

  std::array<uint64_t, 32> numbers_{};
  size_t next_ = 32;
};

}  // namespace uet::io
