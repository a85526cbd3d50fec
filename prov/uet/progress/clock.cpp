// CLOCK_MONOTONIC.
#include "prov/uet/progress/clock.h"

namespace uet::prov {

Instant monotonic_now() {
  timespec ts{};
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return Instant::from_ns(int64_t{ts.tv_sec} * 1'000'000'000 + ts.tv_nsec);
}

timespec to_timespec(Duration d) {
  timespec ts{};
  ts.tv_sec = static_cast<time_t>(d.ns() / 1'000'000'000);
  ts.tv_nsec = static_cast<long>(d.ns() % 1'000'000'000);
  return ts;
}

}  // namespace uet::prov
