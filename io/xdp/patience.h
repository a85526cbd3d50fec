// Waits for the kernel to release resources of a process that has just ended: a program is off the
// interface, and a queue free, some milliseconds after its last descriptor.
#pragma once

#include <unistd.h>

#include <cerrno>

namespace uet::io {

// Tries for 0.3 s while the call fails with EBUSY. False with errno.
template <typename Call>
bool try_while_busy(const Call& call) {
  constexpr int kTries = 60;
  constexpr useconds_t kBetweenUs = 5'000;
  for (int i = 1;; ++i) {
    if (call()) return true;
    if (errno != EBUSY || i == kTries) return false;
    ::usleep(kBetweenUs);
  }
}

}  // namespace uet::io
