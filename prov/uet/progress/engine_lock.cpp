// The contended half of EngineLock.
#include "prov/uet/progress/engine_lock.h"

namespace uet::prov {
namespace {

// About as long as one posting call holds the lock; a round with a full socket takes longer, and
// then sleeping is right.
constexpr int kSpins = 200;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void EngineLock::lock_slow() {
  for (int i = 0; i < kSpins; ++i) {
    relax();
    if (state_.load(std::memory_order_relaxed) == kFree && take()) return;
  }
  // From here on the word says "contended", so that the thread with the lock wakes one sleeper.
  while (state_.exchange(kContended, std::memory_order_acquire) != kFree) state_.wait(kContended);
}

}  // namespace uet::prov
