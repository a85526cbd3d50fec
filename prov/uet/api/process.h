// The process that an object belongs to. After a fork the child has the parent's descriptors,
// sequence numbers and locks, and none of its threads: this is the one place that decides whether
// a call may go on. [decision 14]
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace uet::prov {

// What a call ends with in a forked child; guard() answers -FI_EOPBADSTATE.
struct CalledInForkedChild {};

class Home {
 public:
  // The calling process.
  Home();

  // This is a forked child of that process.
  bool is_elsewhere() const { return generation_ != forks_.load(std::memory_order_relaxed); }
  // Throws CalledInForkedChild there.
  void require() const {
    if (is_elsewhere()) [[unlikely]] {
      refuse();
    }
  }

 private:
  friend void watch_forks();
  [[noreturn]] static void refuse();

  // How many forks lie between the process that loaded the provider and this one.
  inline static std::atomic<uint32_t> forks_{0};
  const uint32_t generation_;
};

// Guards the lists of open objects. A fork waits for it, so that the child finds it free; who holds
// it does not fork, and waits for the network at the end of the process only.
std::mutex& open_objects();

}  // namespace uet::prov
