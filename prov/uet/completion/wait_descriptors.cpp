// eventfd, timerfd and epoll.
#include "prov/uet/completion/wait_descriptors.h"

#include "prov/uet/progress/clock.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>

#include <algorithm>

namespace uet::prov {
namespace {

bool add_to(int epoll_fd, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

}  // namespace

int WaitDescriptors::open_event() {
  event_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return event_fd_ < 0 ? -errno : 0;
}

int WaitDescriptors::open_set(int socket) {
  timer_fd_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  if (timer_fd_ < 0 || epoll_fd_ < 0 || !add_to(epoll_fd_, event_fd_) ||
      !add_to(epoll_fd_, timer_fd_) || (socket >= 0 && !add_to(epoll_fd_, socket))) {
    const int error = errno;
    close();
    return -error;
  }
  has_socket_ = socket >= 0;
  return 0;
}

void WaitDescriptors::close() {
  close_fd(epoll_fd_);
  close_fd(timer_fd_);
  close_fd(event_fd_);
}

void WaitDescriptors::raise() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event_fd_, &one, sizeof(one));
}

void WaitDescriptors::lower() const {
  uint64_t value = 0;
  [[maybe_unused]] const ssize_t got = ::read(event_fd_, &value, sizeof(value));
}

void WaitDescriptors::set_timer(Instant deadline) {
  if (deadline == timer_at_) return;
  timer_at_ = deadline;
  itimerspec timer{};
  if (!deadline.is_never()) {
    // Zero would disarm the timer.
    timer.it_value = to_timespec(std::max(deadline - Instant::zero(), Duration::nanoseconds(1)));
  }
  timerfd_settime(timer_fd_, TFD_TIMER_ABSTIME, &timer, nullptr);
}

void WaitDescriptors::watch_socket(bool watches, int socket) {
  if (watches == has_socket_ || socket < 0) return;
  if (watches) {
    has_socket_ = add_to(epoll_fd_, socket);
  } else if (epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, socket, nullptr) == 0) {
    has_socket_ = false;
  }
}

void WaitDescriptors::change_socket(int from, int to) {
  if (epoll_fd_ < 0) return;
  watch_socket(false, from);
  watch_socket(true, to);
}

}  // namespace uet::prov
