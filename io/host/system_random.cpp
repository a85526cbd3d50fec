// Asking the kernel.
#include "io/host/system_random.h"

#include "base/assert.h"

#include <sys/random.h>

#include <utility>

namespace uet::io {

uint64_t SystemRandom::u64() {
  if (next_ == numbers_.size()) refill();
  return std::exchange(numbers_[next_++], 0);
}

// Never short for so few octets once the system has booted.
void SystemRandom::refill() {
  const ssize_t got = getrandom(numbers_.data(), sizeof numbers_, 0);
  UET_ASSERT(got == static_cast<ssize_t>(sizeof numbers_));
  next_ = 0;
}

}  // namespace uet::io
