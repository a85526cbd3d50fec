// The helper thread's timer: it ends when no thread has visited the engine for a while.
#pragma once

#include "base/time.h"

namespace uet::prov {

class HelperTimer {
 public:
  HelperTimer() = default;
  ~HelperTimer();
  HelperTimer(const HelperTimer&) = delete;
  HelperTimer& operator=(const HelperTimer&) = delete;

  bool open();                    // false with errno
  int fd() const { return fd_; }  // readable when it is over
  bool is_over() const;           // since it was started last; takes that back

  // Starts the timer: it ends after `after` unless it is started again. Any thread.
  void restart(Duration after) const;

 private:
  int fd_ = -1;
};

}  // namespace uet::prov
