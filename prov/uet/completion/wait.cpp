// WaitObject: arming, sleeping and waking.
//
// A sleeper of fi_cq_sread polls the eventfd and the socket; a thread that inserts something while
// another one sleeps writes the eventfd once. It is drained when every sleeper it was written for
// has looked, not before: two sleepers may wait for different things (counter thresholds).
// FI_WAIT_FD hands out an epoll set that holds the same two and a timer, because the application's
// poll knows nothing of the engine's deadlines. [architecture 5]
#include "prov/uet/completion/wait.h"

#include "prov/uet/completion/cntr.h"
#include "prov/uet/completion/cq.h"
#include "prov/uet/completion/eq.h"

#include <poll.h>
#include <sched.h>
#include <ctime>

#include <algorithm>

namespace uet::prov {
namespace {

// Longest sleep without a helper: another thread's post may make the deadline earlier meanwhile.
constexpr Duration kUnhelpedSleep = Duration::milliseconds(10);

}  // namespace

int WaitObject::open(enum fi_wait_obj kind, ProgressEngine& engine) {
  switch (kind) {
    case FI_WAIT_NONE:
    case FI_WAIT_YIELD:
      kind_ = kind;
      seat_.set(engine);
      return 0;
    case FI_WAIT_UNSPEC:
    case FI_WAIT_FD:
      break;
    default:
      return -FI_ENOSYS;  // wait sets and mutexes are gone from libfabric 2 [LF-123]
  }
  if (const int error = fds_.open_event(); error != 0) return error;
  if (kind == FI_WAIT_FD) {
    if (const int error = fds_.open_set(engine.io().wait_fd()); error != 0) return error;
  }
  kind_ = kind;
  seat_.set(engine);
  return 0;
}

bool WaitObject::move_to(ProgressEngine& engine) {
  if (seat_.is_at(engine)) return true;
  const ProgressEngine::Entry entry(seat_);
  if (waiters_ > 0 || armed_) return false;
  fds_.change_socket(this->engine().io().wait_fd(), engine.io().wait_fd());
  seat_.set(engine);
  return true;
}

void WaitObject::close() {
  fds_.close();
  kind_ = FI_WAIT_NONE;
}

void WaitObject::stand_down() {
  armed_ = false;
  end_watch(watches_, Sleepers::Way::armed);
  if (raised_ && unseen_ == 0) lower();
}

void WaitObject::raise() {
  if (fds_.event() < 0) return;
  fds_.raise();
  raised_ = true;
  unseen_ = sleeping_;
  ++raises_;
}

void WaitObject::lower() {
  fds_.lower();
  raised_ = false;
}

void WaitObject::interrupt() {
  if (waiters_ == 0) {
    interrupt_pending_ = true;
    return;
  }
  ++interrupts_;
  signal();
}

int WaitObject::wait(ProgressEngine::Entry& entry, int timeout_ms, const Condition& condition) {
  const Instant begin = entry.now();
  const Instant end =
      timeout_ms < 0 ? Instant::never() : begin + Duration::milliseconds(timeout_ms);
  const uint32_t interrupts = interrupts_;
  disarm();
  ++waiters_;
  const Duration patience = poll_habit_.patience();
  int outcome = -FI_EAGAIN;
  for (;;) {
    if (entry.poll([&] { return condition.holds(condition.self); })) {
      outcome = 0;
      break;
    }
    if (interrupt_pending_ || interrupts != interrupts_ || entry.now() >= end) break;
    if (kind_ == FI_WAIT_YIELD || entry.now() - begin < patience) {
      entry.wait([&] {
        if (kind_ == FI_WAIT_YIELD) sched_yield();
      });
    } else {
      sleep(entry, end);
    }
  }
  const Duration took = entry.now() - begin;
  if (outcome == 0) {
    poll_habit_.on_answered(took);
  } else if (!interrupt_pending_ && interrupts == interrupts_) {
    poll_habit_.on_time_up(took);
  }
  interrupt_pending_ = false;
  --waiters_;
  return outcome;
}

void WaitObject::sleep(ProgressEngine::Entry& entry, Instant until) {
  const bool watches = begin_watch(Sleepers::Way::asleep);
  if (!engine().sleepers().are_served()) until = std::min(until, engine().wake_by(entry.now()));
  if (!engine().helper().is_running()) until = std::min(until, entry.now() + kUnhelpedSleep);
  const timespec rest = to_timespec(std::max(until - entry.now(), Duration::zero()));
  pollfd fds[2] = {{fds_.event(), POLLIN, 0}, {watches ? engine().io().wait_fd() : -1, POLLIN, 0}};
  const uint32_t raises = raises_;
  ++sleeping_;
  engine().sleepers().begin();
  entry.wait([&] { ppoll(fds, 2, until.is_never() ? nullptr : &rest, nullptr); });
  engine().sleepers().end();
  end_watch(watches, Sleepers::Way::asleep);
  --sleeping_;
  if (raises != raises_ && unseen_ > 0) --unseen_;
  if (raised_ && unseen_ == 0 && !armed_) lower();
}

int WaitObject::trywait(ProgressEngine::Entry& entry, const Condition& condition) {
  if (kind_ != FI_WAIT_FD) return -FI_EINVAL;
  entry.round();
  if (condition.holds(condition.self)) return -FI_EAGAIN;
  if (raised_ && unseen_ == 0) lower();
  if (armed_) end_watch(watches_, Sleepers::Way::armed);
  armed_by_ = armed_ && armed_by_ != this_thread() ? nullptr : this_thread();
  armed_ = true;
  watches_ = begin_watch(Sleepers::Way::armed);
  fds_.watch_socket(watches_, engine().io().wait_fd());
  fds_.set_timer(engine().sleepers().are_served() ? Instant::never()
                                                  : engine().wake_by(entry.now()));
  return 0;
}

bool WaitObject::begin_watch(Sleepers::Way way) {
  const bool watches = engine().sleepers().begin_watch(engine().helper().is_running(), way);
  if (watches) engine().io().on_sleep(true);
  return watches;
}

void WaitObject::end_watch(bool watched, Sleepers::Way way) {
  if (watched) engine().io().on_sleep(false);
  if (engine().sleepers().end_watch(watched, way)) engine().serve_sleepers();
}

int WaitObject::control(int command, void* arg) const {
  switch (command) {
    case FI_GETWAIT:
      return get_wait(arg);
    case FI_GETWAITOBJ:
      return get_wait_obj(arg);
    default:
      return -FI_ENOSYS;
  }
}

int WaitObject::get_wait(void* arg) const {
  if (kind_ != FI_WAIT_FD) return -FI_ENOSYS;  // the other objects have nothing to hand out
  if (arg == nullptr) return -FI_EINVAL;
  *static_cast<int*>(arg) = fds_.set();
  return 0;
}

int WaitObject::get_wait_obj(void* arg) const {
  if (arg == nullptr) return -FI_EINVAL;
  *static_cast<enum fi_wait_obj*>(arg) = kind_;
  return 0;
}

int trywait(struct fid** fids, int count) {
  if (count < 0 || (fids == nullptr && count > 0)) return -FI_EINVAL;
  for (int i = 0; i < count; ++i) {
    int rc = -FI_EINVAL;
    if (auto* cq = checked_object_of<CompletionQueue>(fids[i])) {
      rc = cq->trywait();
    } else if (auto* counter = checked_object_of<Counter>(fids[i])) {
      rc = counter->trywait();
    } else if (auto* eq = checked_object_of<EventQueue>(fids[i])) {
      rc = eq->trywait();
    }
    if (rc != 0) return rc;
  }
  return 0;
}

}  // namespace uet::prov
