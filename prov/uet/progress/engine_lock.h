// The lock around engine entry: spins for the length of a short entry, then sleeps on the word
// itself (futex). One word, no allocation, nothing to destroy. [architecture 5]
#pragma once

#include <atomic>
#include <cstdint>

namespace uet::prov {

class EngineLock {
 public:
  // With `enabled` false every call is free: the application promised one thread at a time
  // (FI_THREAD_DOMAIN) and no helper thread exists.
  explicit EngineLock(bool enabled) : enabled_(enabled) {}
  EngineLock(const EngineLock&) = delete;
  EngineLock& operator=(const EngineLock&) = delete;

  void lock() {
    if (!enabled_ || take()) return;
    lock_slow();
  }
  // False: a thread is inside.
  bool try_lock() { return !enabled_ || take(); }
  void unlock() {
    if (!enabled_) return;
    if (state_.exchange(kFree, std::memory_order_release) == kContended) state_.notify_one();
  }

 private:
  enum : uint32_t {
    kFree,
    kHeld,
    kContended
  };

  bool take() {
    uint32_t expected = kFree;
    return state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void lock_slow();

  std::atomic<uint32_t> state_{kFree};
  const bool enabled_;
};

}  // namespace uet::prov
