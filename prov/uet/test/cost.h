// Cost of a call, for tests that compare few objects with many.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>

namespace uet::prov::test {

// Processor time of this thread, in ns, without time of other threads.
inline int64_t cost_ns(const std::function<void()>& act) {
  timespec begin{};
  timespec end{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  act();
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  return int64_t{end.tv_sec - begin.tv_sec} * 1'000'000'000 + end.tv_nsec - begin.tv_nsec;
}

}  // namespace uet::prov::test
