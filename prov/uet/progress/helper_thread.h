// The helper thread of an engine: rests, runs a turn, rests again. Its owner defines the turn.
#pragma once

#include "prov/uet/progress/helper_rest.h"

#include "base/time.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

namespace uet::prov {

// Started and stopped by one thread; what says so may be called by any.
class HelperThread {
 public:
  // One turn, on the thread. Returns the end of the rest that follows; `ends` receives the other
  // events that end it.
  using Turn = std::function<Instant(RestEnds& ends)>;

  HelperThread() = default;
  ~HelperThread() { stop(); }
  HelperThread(const HelperThread&) = delete;
  HelperThread& operator=(const HelperThread&) = delete;

  // The thread begins with a rest of that length. False: there is no descriptor or no thread.
  bool start(Duration first_rest, Turn turn);
  // Ends the thread after its present turn, if there is one. Not to be called in a turn.
  void stop();
  // Started, and not stopped yet. Any thread.
  bool is_running() const { return is_running_.load(std::memory_order_relaxed); }

  // Wakes it, and starts its timer. Any thread.
  HelperRest& rest() { return rest_; }
  // Once, and while it runs. The errand must not refer to what ends before this object.
  void set_errand(std::unique_ptr<Errand> errand);

  // For tests: how often it woke up. Any thread.
  uint64_t turns() const { return turns_.load(std::memory_order_relaxed); }

 private:
  void run(Duration first_rest);

  HelperRest rest_;
  Turn turn_;
  std::atomic<uint64_t> turns_{0};
  std::atomic<bool> is_stopping_{false};
  std::atomic<bool> is_running_{false};
  std::thread thread_;
};

}  // namespace uet::prov
