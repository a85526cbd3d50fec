// ProgressEngine: entry accounting and the helper thread.
//
// The helper must cost nothing while the application polls and must be there when it does not.
// So it sleeps in one of two ways. While the application comes by it only ticks: one timer a
// millisecond, without looking at the socket, so packets never wake it. When a whole tick passes
// without a visit it runs the engine and then sleeps on the engine's deadline and on the socket,
// in poll because that leaves nothing registered with the socket while it only ticks. A visit that
// makes the deadline earlier than the one it sleeps on wakes it, which happens at most once per
// tick, because waking puts it back to ticking. [architecture 8]
//
// state \ event | tick over, visited | tick over, quiet | socket, deadline  | earlier deadline
// tick          | tick               | run, then engine | -                 | -
// engine        | -                  | -                | visited: tick;    | tick
//               |                    |                  | else run, engine  |
#include "prov/uet/progress.h"

#include <poll.h>
#include <pthread.h>
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

constexpr Duration kTick = Duration::milliseconds(1);
// Threads in WaitObject run the engine themselves; the helper only looks after those of their
// deadlines that moved while they slept.
constexpr Duration kSleepersTick = Duration::milliseconds(10);
// Between two runs of the errand: whoever asks for it in a loop gets a small part of one processor.
constexpr Duration kErrandRest = Duration::milliseconds(10);
// The socket took no more: long enough for a buffer to drain, short enough not to be seen.
constexpr Duration kBacklogRetry = Duration::microseconds(100);

timespec to_timespec(Duration d) {
  timespec ts{};
  ts.tv_sec = static_cast<time_t>(d.ns() / 1'000'000'000);
  ts.tv_nsec = static_cast<long>(d.ns() % 1'000'000'000);
  return ts;
}

// How many forks lie between the process that loaded the provider and this one.
std::atomic<uint32_t> fork_generation{0};

uint32_t watch_forks() {
  static const int registered = pthread_atfork(
      nullptr, nullptr, [] { fork_generation.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
  return fork_generation.load(std::memory_order_relaxed);
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
      options_(options),
      fork_generation_(watch_forks()) {}

ProgressEngine::~ProgressEngine() {
  if (helper_.joinable()) {
    stopping_.store(true, std::memory_order_release);
    wake_helper();
    helper_.join();
  }
  if (wake_fd_ >= 0) ::close(wake_fd_);
}

bool ProgressEngine::forked() const {
  return fork_generation.load(std::memory_order_relaxed) != fork_generation_;
}

Instant ProgressEngine::enter() {
  lock_.lock();
  return monotonic_now();
}

void ProgressEngine::leave() {
  entries_.store(entries_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (watch_ == Watch::engine && engine_->next_deadline() < watch_until_) {
    watch_ = Watch::tick;
    wake_helper();
  }
  lock_.unlock();
}

Instant ProgressEngine::wake_by(Instant now) const {
  const Instant deadline = engine_->next_deadline();
  if (!engine_->has_backlog()) return deadline;
  return std::min(deadline, now + kBacklogRetry);
}

void ProgressEngine::drain(Duration limit) {
  const Instant end = monotonic_now() + limit;
  {
    Entry entry(*this);
    entry.fep().close_all(false, entry.now());
  }
  for (;;) {
    Instant until;
    {
      Entry entry(*this);
      while (entry.progress()) {
      }
      if (entry.fep().idle() && !entry.engine().has_backlog()) return;
      if (entry.now() >= end) return;
      until = std::min({end, wake_by(entry.now()), entry.now() + kTick});
    }
    pollfd socket{io_fd(), POLLIN, 0};
    const timespec rest = to_timespec(std::max(until - monotonic_now(), Duration::zero()));
    ppoll(&socket, 1, &rest, nullptr);
  }
}

void ProgressEngine::report_counters(const io::CounterSink& sink) {
  const std::lock_guard lock(lock_);
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
  if (wake_fd_ < 0) return false;
  const SignalsBlocked blocked;
  try {
    helper_ = std::thread([this] { run_helper(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void ProgressEngine::wake_helper() {
  const uint64_t one = 1;
  // Fails only when the counter is full, and then the helper is awake already.
  [[maybe_unused]] const ssize_t written = ::write(wake_fd_, &one, sizeof(one));
}

void ProgressEngine::run_helper() {
  pthread_setname_np(pthread_self(), "uet-helper");
  uint64_t seen = 0;
  helper_rest(options_.auto_progress ? monotonic_now() : monotonic_now() + kTick);
  while (!stopping_.load(std::memory_order_acquire)) helper_rest(helper_turn(seen));
}

// Runs the engine if it is the helper's to run. Returns how long to rest; whether the socket is
// watched meanwhile is in watch_socket_.
Instant ProgressEngine::helper_turn(uint64_t& seen) {
  watch_socket_ = false;
  if (!lock_.try_lock()) return monotonic_now() + kTick;  // somebody is running it right now
  const Instant now = monotonic_now();
  const uint64_t entries = entries_.load(std::memory_order_relaxed);
  const bool visited = entries != seen;
  seen = entries;
  Instant rest;
  if (visited && !options_.auto_progress) {
    watch_ = Watch::tick;
    rest = now + kTick;
  } else {
    const bool moved = engine_->progress(now);
    helper_rounds_.fetch_add(1, std::memory_order_relaxed);
    if (moved) {
      watch_ = Watch::tick;
      rest = now;
    } else if (sleepers_ > 0) {
      watch_ = Watch::tick;
      rest = now + kSleepersTick;
    } else {
      watch_ = Watch::engine;
      rest = watch_until_ = wake_by(now);
      watch_socket_ = true;
    }
  }
  lock_.unlock();
  return rest;
}

void ProgressEngine::helper_rest(Instant until) {
  const Instant begin = monotonic_now();
  const Errand* const errand = errand_.load(std::memory_order_acquire);
  pollfd fds[3] = {
      {wake_fd_, POLLIN, 0}, {watch_socket_ ? io_fd() : -1, POLLIN, 0}, {-1, POLLIN, 0}};
  if (errand != nullptr) {
    if (begin >= errand_after_) {
      fds[2].fd = errand->fd();
      until = std::min(until, errand_due_);
    } else {
      until = std::min(until, errand_after_);
    }
  }
  const timespec rest = to_timespec(std::max(until - begin, Duration::zero()));
  const int ready = ppoll(fds, 3, until.is_never() ? nullptr : &rest, nullptr);
  if (errand != nullptr) helper_errand(ready > 0 && fds[2].revents != 0);
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
