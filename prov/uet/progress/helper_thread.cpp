// The helper's loop, and the scheduling of its thread beside the application's threads.
#include "prov/uet/progress/helper_thread.h"

#include "base/assert.h"

#include "prov/uet/progress/clock.h"

#include <pthread.h>
#include <sched.h>
#include <csignal>
#include <system_error>

#include <utility>

namespace uet::prov {
namespace {

// Signals belong to the application's threads. [ABI-045 sighandler_test]
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

// SCHED_BATCH: the helper runs at once on an idle processor, and does not interrupt a running
// thread when it wakes up. With more processes than processors the application may be waiting for
// that thread. A policy that was chosen for the process stays.
void leave_processor_to_others() {
  int policy = 0;
  sched_param param{};
  if (pthread_getschedparam(pthread_self(), &policy, &param) != 0 || policy != SCHED_OTHER) return;
  (void)pthread_setschedparam(pthread_self(), SCHED_BATCH, &param);  // refused: as before
}

}  // namespace

bool HelperThread::start(Duration first_rest, Turn turn) {
  UET_ASSERT(!thread_.joinable());
  if (!rest_.open()) return false;
  turn_ = std::move(turn);
  const SignalsBlocked blocked;
  try {
    thread_ = std::thread([this, first_rest] { run(first_rest); });
  } catch (const std::system_error&) {
    return false;
  }
  is_running_.store(true, std::memory_order_relaxed);
  return true;
}

void HelperThread::stop() {
  if (!thread_.joinable()) return;
  is_running_.store(false, std::memory_order_relaxed);
  is_stopping_.store(true, std::memory_order_release);
  rest_.wake();
  thread_.join();
}

void HelperThread::set_errand(std::unique_ptr<Errand> errand) {
  UET_ASSERT(is_running());
  rest_.set_errand(std::move(errand));
}

void HelperThread::run(Duration first_rest) {
  pthread_setname_np(pthread_self(), "uet-helper");
  leave_processor_to_others();
  RestEnds ends;
  rest_.rest(monotonic_now() + first_rest, ends);
  while (!is_stopping_.load(std::memory_order_acquire)) {
    turns_.fetch_add(1, std::memory_order_relaxed);
    const Instant until = turn_(ends);
    rest_.rest(until, ends);
  }
}

}  // namespace uet::prov
