// The helper's sleep. [architecture 5]
#include "prov/uet/progress/helper_rest.h"

#include "base/assert.h"

#include "prov/uet/progress/clock.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <cstdint>

#include <algorithm>
#include <utility>

namespace uet::prov {
namespace {

// Between two runs of the errand: requests in a loop take a small part of one processor.
constexpr Duration kErrandRest = Duration::milliseconds(10);

}  // namespace

HelperRest::~HelperRest() {
  if (wake_fd_ >= 0) ::close(wake_fd_);
}

bool HelperRest::open() {
  wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return wake_fd_ >= 0 && timer_.open();
}

void HelperRest::wake() const {
  const uint64_t one = 1;
  // Fails only when the counter is full, and then the helper is awake already.
  [[maybe_unused]] const ssize_t written = ::write(wake_fd_, &one, sizeof(one));
}

void HelperRest::set_errand(std::unique_ptr<Errand> errand) {
  UET_ASSERT(errand_owner_ == nullptr);
  errand_owner_ = std::move(errand);
  errand_.store(errand_owner_.get(), std::memory_order_release);
  wake();
}

void HelperRest::rest(Instant until, const RestEnds& ends) {
  const Instant begin = monotonic_now();
  const Errand* const errand = errand_.load(std::memory_order_acquire);
  pollfd fds[4] = {{wake_fd_, POLLIN, 0},
                   {ends.socket, POLLIN, 0},
                   {ends.timer ? timer_.fd() : -1, POLLIN, 0},
                   {-1, POLLIN, 0}};
  if (errand != nullptr) {
    if (begin >= errand_after_) {
      fds[3].fd = errand->fd();
      until = std::min(until, errand_due_);
    } else {
      until = std::min(until, errand_after_);
    }
  }
  const timespec rest = to_timespec(std::max(until - begin, Duration::zero()));
  const int ready = ppoll(fds, 4, until.is_never() ? nullptr : &rest, nullptr);
  if (errand != nullptr) run_errand(ready > 0 && fds[3].revents != 0);
  if (ready <= 0 || (fds[0].revents & POLLIN) == 0) return;
  uint64_t value = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_fd_, &value, sizeof(value));
}

void HelperRest::run_errand(bool called) {
  const Instant now = monotonic_now();
  if (now < errand_after_ || (!called && now < errand_due_)) return;
  errand_due_ = errand_.load(std::memory_order_acquire)->run(now);
  errand_after_ = now + kErrandRest;
}

}  // namespace uet::prov
