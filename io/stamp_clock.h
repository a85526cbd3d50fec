// Arrival times as the kernel notes them, on the stack's clock. The kernel stamps packets by the
// wall clock, which may be set; the stack counts on the monotonic one. [PDS-141, PDS-241]
#pragma once

#include "base/time.h"

#include <ctime>

namespace uet::io {

class StampClock {
 public:
  // Reads both clocks: stamps of packets that have arrived by now can be converted.
  void read(Instant now) {
    timespec real{};
    clock_gettime(CLOCK_REALTIME, &real);
    now_ = now;
    real_ns_ = ns_of(real.tv_sec, real.tv_nsec);
  }

  // When a packet with that stamp arrived. A stamp from the future, or older than a packet can lie
  // in a receive buffer, says that the wall clock was set: then it is now.
  Instant arrival(int64_t seconds, int64_t nanoseconds) const {
    const int64_t age_ns = real_ns_ - ns_of(seconds, nanoseconds);
    if (age_ns < 0 || age_ns > kOldestNs) return now_;
    return now_ - Duration::nanoseconds(age_ns);
  }
  Instant now() const { return now_; }

 private:
  static constexpr int64_t kOldestNs = 60'000'000'000;
  static int64_t ns_of(int64_t seconds, int64_t nanoseconds) {
    return seconds * 1'000'000'000 + nanoseconds;
  }

  Instant now_;
  int64_t real_ns_ = 0;
};

}  // namespace uet::io
