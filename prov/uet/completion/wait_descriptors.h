// The descriptors of a WaitObject: an eventfd, and for FI_WAIT_FD an epoll set of it, of the
// engine's socket and of a timerfd. All are close-on-exec.
#pragma once

#include "base/time.h"

namespace uet::prov {

class WaitDescriptors {
 public:
  WaitDescriptors() = default;
  ~WaitDescriptors() { close(); }
  WaitDescriptors(const WaitDescriptors&) = delete;
  WaitDescriptors& operator=(const WaitDescriptors&) = delete;

  // 0, or a negative errno with nothing open. `socket`: of the engine; -1: there is none.
  int open_event();
  int open_set(int socket);
  void close();

  int event() const { return event_fd_; }  // readable after raise(); -1: not open
  int set() const { return epoll_fd_; }    // readable when one of the three is; -1: not open
  void raise() const;
  void lower() const;

  // For the epoll set: the timer ends at `deadline`, or never.
  void set_timer(Instant deadline);
  // Whether the set holds the engine's socket. A change that the system refuses leaves a sleeper
  // that wakes up too often.
  void watch_socket(bool watches, int socket);
  // The engine is another one from now on: its socket takes the place of the old one's in the set.
  void change_socket(int from, int to);

 private:
  int event_fd_ = -1;
  int timer_fd_ = -1;
  int epoll_fd_ = -1;
  bool has_socket_ = false;
  Instant timer_at_ = Instant::never();
};

}  // namespace uet::prov
