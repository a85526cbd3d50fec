// ProgressEngine: entry accounting and the helper thread. When the helper comes and what it waits
// for is decided in flush_policy.cpp. [architecture 5]
#include "prov/uet/progress/progress.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <csignal>
#include <ctime>
#include <system_error>

#include <algorithm>
#include <mutex>
#include <utility>

namespace uet::prov {
namespace {

// A thread that stays inside as long as this when the process ends may be the one that ends it.
constexpr Duration kRetirePatience = Duration::milliseconds(200);

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

Result<std::unique_ptr<ProgressEngine>> ProgressEngine::create(std::unique_ptr<fep::Engine> engine,
                                                               const Options& options) {
  using Created = Result<std::unique_ptr<ProgressEngine>>;
  std::unique_ptr<ProgressEngine> self(new ProgressEngine(std::move(engine), options));
  if ((options.helper || options.auto_progress) && !self->start_helper()) return Created(Errc::io);
  return Created(std::move(self));
}

ProgressEngine::ProgressEngine(std::unique_ptr<fep::Engine> engine, const Options& options)
    : lock_(options.locking || options.helper || options.auto_progress),
      engine_(std::move(engine)),
      options_(options),
      policy_({options.auto_progress, options.peers_wait}) {}

ProgressEngine::~ProgressEngine() { stop_helper(); }

void ProgressEngine::stop_helper() {
  if (!helper_.joinable()) return;
  has_helper_.store(false, std::memory_order_relaxed);
  stopping_.store(true, std::memory_order_release);
  rest_.wake();
  helper_.join();
}

void ProgressEngine::retire() {
  stop_helper();
  inspect(kRetirePatience, [](fep::Engine& engine, Instant) { engine.io().finish(); });
}

Instant ProgressEngine::enter() {
  home_.require();
  lock_.lock();
  const Instant now = monotonic_now();
  if (now >= put_off_at_.load(std::memory_order_relaxed)) {
    start_timer(policy_.on_visit(entries_.load(std::memory_order_relaxed), now), now);
  }
  return now;
}

void ProgressEngine::leave() {
  entries_.store(entries_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (policy_.watch() == Watch::engine && policy_.on_left(engine_->next_deadline())) rest_.wake();
  lock_.unlock();
}

bool ProgressEngine::flush_now(Flush what, Instant now) {
  if (what == Flush::round) return engine_->progress(now);
  if (engine_->has_backlog()) engine_->transmit(now);
  return false;
}

// While visits keep coming some of them put the helper's timer off, long before it ends.
void ProgressEngine::start_timer(Decision decision, Instant now) {
  put_off_at_.store(policy_.put_off_at(), std::memory_order_relaxed);
  rest_.start_timer(row_of(decision).after);
  flush(decision, now);
}

void ProgressEngine::serve_sleepers() {
  policy_.on_unserved();
  rest_.wake();
}

void ProgressEngine::drain(Duration limit) {
  {
    Entry entry(*this);
    entry.fep().close_all(false, entry.now());
  }
  run_until(limit,
            [](Entry& entry) { return entry.fep().idle() && !entry.engine().has_backlog(); });
}

bool ProgressEngine::run_until(Duration limit, const std::function<bool(Entry&)>& done) {
  const Instant end = monotonic_now() + limit;
  for (;;) {
    Instant until;
    {
      Entry entry(*this);
      while (entry.poll()) {
      }
      if (done(entry)) return true;
      if (entry.now() >= end) return false;
      until = std::min({end, wake_by(entry.now()), entry.now() + kAbsence});
    }
    sleep_until(until, monotonic_now());
  }
}

uint32_t ProgressEngine::flush_copies(Duration limit) {
  if (!options_.locking && !options_.helper && !options_.auto_progress) return 0;
  const Instant end = monotonic_now() + limit;
  uint32_t left = 0;
  for (;;) {
    Instant until;
    const auto look = [&](fep::Engine& engine, Instant now) {
      left = engine.fep().ses().exchange().copies().now;
      if (left == 0) return;
      policy_.on_ran(now);
      until = engine.progress(now) ? now : std::min({end, wake_by(now), now + kAbsence});
    };
    if (!inspect(kRetirePatience, look) || left == 0) return left;
    const Instant now = monotonic_now();
    if (now >= end) return left;
    sleep_until(until, now);
  }
}

void ProgressEngine::sleep_until(Instant until, Instant now) const {
  pollfd socket{io_fd(), POLLIN, 0};
  const timespec rest = to_timespec(std::max(until - now, Duration::zero()));
  ppoll(&socket, 1, &rest, nullptr);
}

void ProgressEngine::report_counters(const io::CounterSink& sink) {
  engine_->fep().for_each_counter(sink);
  engine_->io().report_counters(sink);
}

bool ProgressEngine::inspect(Duration limit,
                             const std::function<void(fep::Engine&, Instant)>& look) {
  const Instant end = monotonic_now() + limit;
  while (!lock_.try_lock()) {
    if (monotonic_now() >= end) return false;
    const timespec pause = to_timespec(Duration::microseconds(100));
    nanosleep(&pause, nullptr);
  }
  const std::lock_guard lock(lock_, std::adopt_lock);
  look(*engine_, monotonic_now());
  return true;
}

void ProgressEngine::set_errand(std::unique_ptr<Errand> errand) {
  UET_ASSERT(has_helper());
  rest_.set_errand(std::move(errand));
}

bool ProgressEngine::start_helper() {
  if (!rest_.open()) return false;
  const SignalsBlocked blocked;
  try {
    helper_ = std::thread([this] { run_helper(); });
  } catch (const std::system_error&) {
    return false;
  }
  has_helper_.store(true, std::memory_order_relaxed);
  return true;
}

void ProgressEngine::run_helper() {
  pthread_setname_np(pthread_self(), "uet-helper");
  leave_processor_to_others();
  RestEnds ends;
  rest_.rest(options_.auto_progress ? monotonic_now() : monotonic_now() + kAbsence, ends);
  while (!stopping_.load(std::memory_order_acquire)) {
    const Instant until = helper_turn(ends);
    rest_.rest(until, ends);
  }
}

// Runs the engine if it is the helper's to run. Returns until when to rest; `ends`: what else ends
// the rest.
Instant ProgressEngine::helper_turn(RestEnds& ends) {
  helper_turns_.fetch_add(1, std::memory_order_relaxed);
  ends = {.socket = -1, .timer = !options_.auto_progress};
  if (!lock_.try_lock()) return helper_kept_out();
  const std::lock_guard lock(lock_, std::adopt_lock);
  const Instant now = monotonic_now();
  const FlushPolicy::HelperSees sees{entries_.load(std::memory_order_relaxed),
                                     policy_.watch() == Watch::visits && rest_.timer_is_over(),
                                     sleepers_.are_served(), !sleepers_.none()};
  const Decision decision = policy_.on_helper(sees, now);
  if (decision != Decision::helper) {
    start_timer(decision, now);
    return Instant::never();
  }
  const bool moved = flush(decision, now);
  helper_rounds_.fetch_add(1, std::memory_order_relaxed);
  put_off_at_.store(policy_.put_off_at(), std::memory_order_relaxed);
  ends.timer = false;
  const Instant deadline = wake_by(now);
  const FlushRow& rest = row_of(policy_.on_helper_ran(moved, sees, deadline));
  if (rest.watch != Watch::engine) return now + rest.after;
  ends.socket = io_fd();
  return deadline;
}

// Somebody runs the engine right now.
Instant ProgressEngine::helper_kept_out() {
  const Decision decision = FlushPolicy::on_busy(sleepers_.may_be_served(), options_.auto_progress);
  const Duration after = row_of(decision).after;
  if (row_of(decision).watch == Watch::pause) return monotonic_now() + after;
  rest_.start_timer(after);
  put_off_at_.store(Instant::zero(), std::memory_order_relaxed);  // the next visit puts it off
  return Instant::never();
}

}  // namespace uet::prov
