// ProgressEngine: entry accounting and the helper thread. flush_policy.cpp decides when the helper
// runs and what it waits for. [architecture 5]
#include "prov/uet/progress/progress.h"

#include <poll.h>
#include <ctime>

#include <algorithm>
#include <mutex>
#include <utility>

namespace uet::prov {
namespace {

// A thread that stays inside as long as this when the process ends may be the one that ends it.
constexpr Duration kRetirePatience = Duration::milliseconds(200);

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
      home_(options.by_owner),
      policy_({options.auto_progress, options.peers_wait}) {}

ProgressEngine::~ProgressEngine() { helper_.stop(); }

bool ProgressEngine::start_helper() {
  const Duration first_rest = options_.auto_progress ? Duration::zero() : kAbsence;
  return helper_.start(first_rest, [this](RestEnds& ends) { return helper_turn(ends); });
}

void ProgressEngine::retire() {
  helper_.stop();
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
  if (policy_.watch() == Watch::engine && policy_.on_left(engine_->next_deadline()))
    helper_.rest().wake();
  lock_.unlock();
}

bool ProgressEngine::flush_now(Flush what, Instant now) {
  const bool receives = !options_.by_owner || is_turn_;
  if (what == Flush::round && receives) return engine_->progress(now);
  if (engine_->has_backlog()) engine_->transmit(now);
  return false;
}

// While visits keep coming some of them put the helper's timer off, long before it ends.
void ProgressEngine::start_timer(Decision decision, Instant now) {
  if (!helper_on_socket_.load(std::memory_order_relaxed)) set_helper_watches(false);
  put_off_at_.store(policy_.put_off_at(), std::memory_order_relaxed);
  helper_.rest().start_timer(row_of(decision).after);
  flush(decision, now);
}

void ProgressEngine::serve_sleepers() {
  policy_.on_unserved();
  helper_.rest().wake();
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
  for (bool slept = false;; slept = true) {
    Instant until;
    {
      Entry entry(*this);
      if (slept) io().on_sleep(false);
      while (entry.round()) {
      }
      if (done(entry)) return true;
      if (entry.now() >= end) return false;
      until = std::min({end, wake_by(entry.now()), entry.now() + kAbsence});
      io().on_sleep(true);
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
      left = engine.fep().copies().now;
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
  pollfd socket{io().wait_fd(), POLLIN, 0};
  const timespec rest = to_timespec(std::max(until - now, Duration::zero()));
  ppoll(&socket, 1, &rest, nullptr);
}

void ProgressEngine::report_counters(const io::CounterSink& sink) {
  engine_->fep().for_each_counter(sink);
  engine_->io().report_counters(sink);
  sink("peer_cq_lost", lost_at_owner_);
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

// Runs the engine if it is the helper's to run. Returns until when to rest; `ends`: what else ends
// the rest.
Instant ProgressEngine::helper_turn(RestEnds& ends) {
  ends = {.socket = -1, .timer = !options_.auto_progress};
  helper_on_socket_.store(false, std::memory_order_relaxed);
  if (!lock_.try_lock()) return helper_kept_out();
  const std::lock_guard lock(lock_, std::adopt_lock);
  set_helper_watches(false);
  const Instant now = monotonic_now();
  const FlushPolicy::HelperSees sees{
      entries_.load(std::memory_order_relaxed),
      policy_.watch() == Watch::visits && helper_.rest().timer_is_over(), sleepers_.are_served(),
      !sleepers_.none()};
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
  ends.socket = io().wait_fd();
  helper_on_socket_.store(true, std::memory_order_relaxed);
  set_helper_watches(true);
  return deadline;
}

void ProgressEngine::set_helper_watches(bool watches) {
  if (helper_watches_ == watches) return;
  helper_watches_ = watches;
  io().on_sleep(watches);
}

// A thread runs the engine right now.
Instant ProgressEngine::helper_kept_out() {
  const Decision decision = FlushPolicy::on_busy(sleepers_.may_be_served(), options_.auto_progress);
  const Duration after = row_of(decision).after;
  if (row_of(decision).watch == Watch::pause) return monotonic_now() + after;
  helper_.rest().start_timer(after);
  put_off_at_.store(Instant::zero(), std::memory_order_relaxed);  // the next visit puts it off
  return Instant::never();
}

}  // namespace uet::prov
