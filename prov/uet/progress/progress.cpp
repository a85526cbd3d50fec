// ProgressEngine: entry accounting and the helper thread.
//
// The helper must cost nothing while the application polls and must be there when it does not.
// A wake-up in the midst of a ping-pong costs as much as ten messages. So while the application
// comes by the helper sleeps on a timer alone, and now and then a visit puts that timer off;
// packets do not wake it. When the timer ends, nobody has come for half of its time at least: the
// helper runs the engine and then sleeps on the engine's deadline and on the socket, in poll
// because that leaves nothing registered with the socket meanwhile. A visit that makes the deadline
// earlier than the one it sleeps on wakes it, which happens at most once, because then it waits for
// the timer again. [architecture 5]
//
// state \ event | timer over       | socket, deadline, pause over | earlier deadline
// visits        | run, then engine | -                            | -
// engine, pause | -                | visited: visits;             | visits
//               |                  | else run, engine             |
#include "prov/uet/progress/progress.h"

#include "prov/uet/progress/absence.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <csignal>
#include <ctime>
#include <system_error>

#include <algorithm>
#include <mutex>
#include <utility>

namespace uet::prov {
namespace {

// So often does an application come by that looks all the time, on average.
constexpr Duration kSteadyVisit = Duration::microseconds(100);
// Threads in WaitObject run the engine themselves; the helper only looks after those of their
// deadlines that moved while they slept.
constexpr Duration kSleepersPause = Duration::milliseconds(10);
// Between two runs of the errand: requests in a loop take a small part of one processor.
constexpr Duration kErrandRest = Duration::milliseconds(10);
// A thread that stays inside as long as this when the process ends may be the one that ends it.
constexpr Duration kRetirePatience = Duration::milliseconds(200);
// Somebody is inside while threads wait to be served: about as long as a visit takes.
constexpr Duration kServeRetry = Duration::microseconds(20);
// The socket took no more: long enough for a buffer to drain, short enough not to be seen.
constexpr Duration kBacklogRetry = Duration::microseconds(100);

timespec to_timespec(Duration d) {
  timespec ts{};
  ts.tv_sec = static_cast<time_t>(d.ns() / 1'000'000'000);
  ts.tv_nsec = static_cast<long>(d.ns() % 1'000'000'000);
  return ts;
}

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

Instant monotonic_now() {
  timespec ts{};
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return Instant::from_ns(int64_t{ts.tv_sec} * 1'000'000'000 + ts.tv_nsec);
}

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
      options_(options) {}

ProgressEngine::~ProgressEngine() {
  stop_helper();
  if (wake_fd_ >= 0) ::close(wake_fd_);
}

void ProgressEngine::stop_helper() {
  if (!helper_.joinable()) return;
  has_helper_.store(false, std::memory_order_relaxed);
  stopping_.store(true, std::memory_order_release);
  wake_helper();
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
  if (now >= put_off_at_.load(std::memory_order_relaxed)) await_absence(now);
  return now;
}

void ProgressEngine::leave() {
  entries_.store(entries_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (watch_ == Watch::engine && engine_->next_deadline() < watch_until_) {
    watch_ = Watch::pause;
    wake_helper();
  }
  lock_.unlock();
}

// The helper's timer begins now. While visits keep coming some put it off, long before it ends.
void ProgressEngine::await_absence(Instant now) {
  const uint64_t visits = entries_.load(std::memory_order_relaxed);
  const bool is_steady =
      watch_ == Watch::visits && options_.peers_wait > kSteadyAbsence &&
      now - awaited_since_ <= kSteadyVisit * static_cast<int64_t>(visits - visits_before_);
  watch_ = Watch::visits;
  awaited_since_ = now;
  visits_before_ = visits;
  put_off_at_.store(now + (is_steady ? kSteadyPutOff : kPutOff), std::memory_order_relaxed);
  timer_.restart(is_steady ? kSteadyAbsence : kAbsence);
  // These visits neither post nor look, and keep the helper from sending what waits.
  if (!posts_.is_overdue(now)) return;
  posts_.on_sent_late(now);
  engine_->transmit(now);
}

void ProgressEngine::serve_sleepers() {
  watch_ = Watch::pause;
  wake_helper();
}

Instant ProgressEngine::wake_by(Instant now) const {
  const Instant deadline = engine_->next_deadline();
  if (!engine_->has_backlog()) return deadline;
  return std::min(deadline, now + kBacklogRetry);
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
      while (entry.progress()) {
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
      left = engine.fep().ses().copies().now;
      until = left != 0 && run(now) ? now : std::min({end, wake_by(now), now + kAbsence});
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
  UET_ASSERT(has_helper() && errand_owner_ == nullptr);
  errand_owner_ = std::move(errand);
  errand_.store(errand_owner_.get(), std::memory_order_release);
  wake_helper();
}

bool ProgressEngine::start_helper() {
  wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd_ < 0 || !timer_.open()) return false;
  const SignalsBlocked blocked;
  try {
    helper_ = std::thread([this] { run_helper(); });
  } catch (const std::system_error&) {
    return false;
  }
  has_helper_.store(true, std::memory_order_relaxed);
  return true;
}

void ProgressEngine::wake_helper() {
  const uint64_t one = 1;
  // Fails only when the counter is full, and then the helper is awake already.
  [[maybe_unused]] const ssize_t written = ::write(wake_fd_, &one, sizeof(one));
}

void ProgressEngine::run_helper() {
  pthread_setname_np(pthread_self(), "uet-helper");
  leave_processor_to_others();
  uint64_t seen = 0;
  helper_rest(options_.auto_progress ? monotonic_now() : monotonic_now() + kAbsence);
  while (!stopping_.load(std::memory_order_acquire)) helper_rest(helper_turn(seen));
}

// Runs the engine if it is the helper's to run. Returns how long to rest; what else ends the rest
// is in watch_socket_ and watch_timer_.
Instant ProgressEngine::helper_turn(uint64_t& seen) {
  helper_turns_.fetch_add(1, std::memory_order_relaxed);
  watch_socket_ = false;
  watch_timer_ = !options_.auto_progress;
  if (!lock_.try_lock()) {  // somebody is running it right now
    if (sleepers_.may_be_served()) return monotonic_now() + kServeRetry;
    if (options_.auto_progress) return monotonic_now() + kAbsence;
    timer_.restart(kAbsence);
    put_off_at_.store(Instant::zero(), std::memory_order_relaxed);  // who comes next puts it off
    return Instant::never();
  }
  const std::lock_guard lock(lock_, std::adopt_lock);
  const Instant now = monotonic_now();
  const uint64_t entries = entries_.load(std::memory_order_relaxed);
  const bool is_absent = watch_ == Watch::visits && timer_.is_over();
  const bool visited = entries != seen && !is_absent;
  seen = entries;
  if (visited && !options_.auto_progress && !sleepers_.are_served()) {
    await_absence(now);
    return Instant::never();
  }
  posts_.on_sent_late(now);
  const bool moved = run(now);
  helper_rounds_.fetch_add(1, std::memory_order_relaxed);
  watch_timer_ = false;
  watch_ = Watch::pause;
  put_off_at_.store(Instant::never(), std::memory_order_relaxed);
  if (moved) return now;
  if (!sleepers_.none() && !sleepers_.are_served()) return now + kSleepersPause;
  watch_ = Watch::engine;
  watch_socket_ = true;
  return watch_until_ = wake_by(now);
}

void ProgressEngine::helper_rest(Instant until) {
  const Instant begin = monotonic_now();
  const Errand* const errand = errand_.load(std::memory_order_acquire);
  pollfd fds[4] = {{wake_fd_, POLLIN, 0},
                   {watch_socket_ ? io_fd() : -1, POLLIN, 0},
                   {watch_timer_ ? timer_.fd() : -1, POLLIN, 0},
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
  if (errand != nullptr) helper_errand(ready > 0 && fds[3].revents != 0);
  if (ready <= 0 || (fds[0].revents & POLLIN) == 0) return;
  uint64_t value = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_fd_, &value, sizeof(value));
}

void ProgressEngine::helper_errand(bool called) {
  const Instant now = monotonic_now();
  if (now < errand_after_ || (!called && now < errand_due_)) return;
  errand_due_ = errand_.load(std::memory_order_acquire)->run(now);
  errand_after_ = now + kErrandRest;
}

}  // namespace uet::prov
