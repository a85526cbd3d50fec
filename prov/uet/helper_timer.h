// The helper thread's timer: it ends when nobody has visited the engine for a while, or sooner, for
// posts that wait for each other (PostHabit).
#pragma once

#include "base/time.h"

#include <atomic>

namespace uet::prov {

// Every call with the engine's lock held, but fd(), is_over() and restart_unlocked().
class HelperTimer {
 public:
  HelperTimer() = default;
  ~HelperTimer();
  HelperTimer(const HelperTimer&) = delete;
  HelperTimer& operator=(const HelperTimer&) = delete;

  bool open();                     // false with errno
  int fd() const { return fd_; }   // readable when it is over
  bool is_over() const;            // since it was started last; takes that back

  // Starts the timer: it ends after `after` unless it is started again. Does nothing while the
  // timer guards posts: it ends sooner then, and the helper starts it again.
  void restart(Duration after, Instant now);
  // The same by the helper while another thread has the lock. Returns when the helper must send
  // posts that wait; never: none do.
  Instant restart_unlocked(Duration after);

  void guard(Instant end, Instant now);
  bool is_guarding() const { return !guard_end().is_never(); }
  bool is_guard_over(Instant now) const { return guard_end() <= now; }
  void end_guard() { guard_end_.store(Instant::never(), std::memory_order_relaxed); }

 private:
  Instant guard_end() const { return guard_end_.load(std::memory_order_relaxed); }
  void start(Duration after) const;

  int fd_ = -1;
  std::atomic<Instant> guard_end_{Instant::never()};
};

}  // namespace uet::prov
