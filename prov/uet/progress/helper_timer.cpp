// The timerfd.
#include "prov/uet/progress/helper_timer.h"

#include <sys/timerfd.h>
#include <unistd.h>
#include <cstdint>
#include <ctime>

namespace uet::prov {

HelperTimer::~HelperTimer() {
  if (fd_ >= 0) ::close(fd_);
}

bool HelperTimer::open() {
  fd_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  return fd_ >= 0;
}

bool HelperTimer::is_over() const {
  uint64_t ends = 0;
  return ::read(fd_, &ends, sizeof(ends)) == sizeof(ends);
}

void HelperTimer::restart(Duration after) const {
  itimerspec timer{};
  timer.it_value.tv_sec = static_cast<time_t>(after.ns() / 1'000'000'000);
  timer.it_value.tv_nsec = static_cast<long>(after.ns() % 1'000'000'000);
  timerfd_settime(fd_, 0, &timer, nullptr);
}

}  // namespace uet::prov
