// Who sleeps on the queues of a domain, and who of them watches its socket: the first one asleep,
// so that a packet wakes one thread. When that one wakes up while others sleep, the helper watches
// it for them. Without a helper everybody does. Under the engine lock. [architecture 5]
#pragma once

#include <atomic>
#include <cstdint>

namespace uet::prov {

// The calling thread, as long as it lives.
inline const void* this_thread() {
  static thread_local char self;
  return &self;
}

class Sleepers {
 public:
  // A wait object is about to be slept on, or may be from now on (FI_WAIT_FD). True: with the
  // socket. The objects of one thread are one sleeper.
  bool begin_watch(bool has_helper) {
    const bool is_first = followers_ == 0 && (watchers_ == 0 || watching_ == this_thread());
    if (has_helper && !is_first) {
      ++followers_;
      return false;
    }
    watching_ = this_thread();
    ++watchers_;
    return true;
  }
  // Takes the outcome of begin_watch(). True: the helper has to look after the others from now on.
  bool end_watch(bool watched) {
    --(watched ? watchers_ : followers_);
    must_serve_.store(are_served(), std::memory_order_relaxed);
    return watched && are_served();
  }
  // The helper watches the socket for them.
  bool are_served() const { return followers_ > 0 && watchers_ == 0; }
  // The same without the lock, maybe a little late.
  bool may_be_served() const { return must_serve_.load(std::memory_order_relaxed); }

  // Threads asleep inside the provider, which run the engine when they wake up.
  void begin() { ++inside_; }
  void end() { --inside_; }
  bool none() const { return inside_ == 0; }

 private:
  uint32_t inside_ = 0;
  uint32_t watchers_ = 0;
  uint32_t followers_ = 0;
  const void* watching_ = nullptr;  // the thread of the watchers, if there is a helper
  std::atomic<bool> must_serve_{false};
};

}  // namespace uet::prov
