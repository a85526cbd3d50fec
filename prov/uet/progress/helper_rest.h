// How the helper thread sleeps, what ends its sleep, and the errand that it runs in between.
#pragma once

#include "base/time.h"

#include "prov/uet/progress/errand.h"
#include "prov/uet/progress/helper_timer.h"

#include <atomic>
#include <memory>

namespace uet::prov {

// Events that may end one rest besides wake(), the errand and the time.
struct RestEnds {
  int socket = -1;     // of the engine, readable when packets came; -1: not watched
  bool timer = false;  // the timer that visits of the application put off
};

class HelperRest {
 public:
  HelperRest() = default;
  ~HelperRest();
  HelperRest(const HelperRest&) = delete;
  HelperRest& operator=(const HelperRest&) = delete;

  bool open();  // false with errno

  // Any thread: the rest that lasts, or the next one, ends at once.
  void wake() const;
  // Any thread: the timer ends after that long, unless it is started again.
  void start_timer(Duration after) const { timer_.restart(after); }
  // The helper: whether the timer ended since it was started last; takes that back.
  bool timer_is_over() const { return timer_.is_over(); }

  // Once, before the end of the helper. The errand must not refer to what ends before this object.
  void set_errand(std::unique_ptr<Errand> errand);

  // The helper: sleeps until `until`, or until one of `ends` happens, then runs the errand if it is
  // time for it.
  void rest(Instant until, const RestEnds& ends);

 private:
  void run_errand(bool called);

  int wake_fd_ = -1;  // eventfd
  HelperTimer timer_;
  std::unique_ptr<Errand> errand_owner_;
  std::atomic<Errand*> errand_{nullptr};
  Instant errand_due_ = Instant::zero();    // when it runs at the latest
  Instant errand_after_ = Instant::zero();  // before that its descriptor is not looked at
};

}  // namespace uet::prov
