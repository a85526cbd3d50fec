// Which threads sleep on the queues of an engine, and which of them watches its socket: the first
// one, so that a packet wakes one thread. When that one wakes up while others sleep, the helper
// watches for them. Without a helper each thread watches. Under the engine lock. [architecture 5]
#pragma once

#include "prov/uet/progress/home.h"

#include <atomic>
#include <cstdint>

namespace uet::prov {

class Sleepers {
 public:
  // How a wait object is waited for.
  enum class Way : uint8_t {
    armed,   // FI_WAIT_FD: the application may sleep on the descriptor, now, later or never
    asleep,  // a thread sleeps inside the provider
  };

  // A thread begins to wait on a wait object. True: it also watches the socket. The objects of one
  // thread are one sleeper. A thread that sleeps does not rely on a descriptor that is only armed.
  bool begin_watch(bool has_helper, Way way) {
    const bool is_first = followers() == 0 && (watchers() == 0 || watching_ == this_thread());
    const bool is_alone = way == Way::asleep && asleep_.watchers == 0 && !are_served();
    if (has_helper && !is_first && !is_alone) {
      ++of(way).followers;
      return false;
    }
    watching_ = this_thread();
    ++of(way).watchers;
    return true;
  }
  // Takes the result of begin_watch(). True: the helper must watch for the other sleepers from now
  // on.
  bool end_watch(bool watched, Way way) {
    --(watched ? of(way).watchers : of(way).followers);
    must_serve_.store(are_served(), std::memory_order_relaxed);
    return watched && are_served();
  }
  // The helper watches the socket for them.
  bool are_served() const {
    return (asleep_.followers > 0 && asleep_.watchers == 0) || (followers() > 0 && watchers() == 0);
  }
  // The same without the lock, maybe a little late.
  bool may_be_served() const { return must_serve_.load(std::memory_order_relaxed); }

  // Threads asleep inside the provider, which run the engine when they wake up.
  void begin() { ++inside_; }
  void end() { --inside_; }
  bool none() const { return inside_ == 0; }

 private:
  struct Counts {
    uint32_t watchers = 0;
    uint32_t followers = 0;
  };
  Counts& of(Way way) { return way == Way::armed ? armed_ : asleep_; }
  uint32_t watchers() const { return armed_.watchers + asleep_.watchers; }
  uint32_t followers() const { return armed_.followers + asleep_.followers; }

  uint32_t inside_ = 0;
  Counts armed_;
  Counts asleep_;
  const void* watching_ = nullptr;  // the thread of the watchers, if there is a helper
  std::atomic<bool> must_serve_{false};
};

}  // namespace uet::prov
