// The engine that serves a completion queue or a counter: the first one until an endpoint of
// another engine is bound. [decision 27]
#pragma once

#include <atomic>
#include <cstdint>

namespace uet::prov {

class ProgressEngine;

class EngineSeat {
 public:
  ProgressEngine& engine() const { return *engine_.load(std::memory_order_acquire); }
  // A thread that took the lock of `engine` calls this: false when the object has moved meanwhile.
  bool is_at(const ProgressEngine& engine) const {
    return engine_.load(std::memory_order_relaxed) == &engine;
  }
  // The lock of the engine that served it until now is held.
  void set(ProgressEngine& engine) { engine_.store(&engine, std::memory_order_release); }

  // Endpoints that need it to stay. Under DomainEngines::set_up_lock().
  uint32_t users = 0;

 private:
  std::atomic<ProgressEngine*> engine_{nullptr};
};

}  // namespace uet::prov
