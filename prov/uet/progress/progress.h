// Who runs a domain's engine, and when: the lock around it, the bounded progress that application
// calls make, and the helper thread for the time when no application call comes. Knows nothing
// about completions; sleepers with a completion to wait for use WaitObject. [architecture 5]
#pragma once

#include "prov/uet/api/process.h"
#include "prov/uet/completion/sleepers.h"
#include "prov/uet/progress/engine_lock.h"
#include "prov/uet/progress/errand.h"
#include "prov/uet/progress/helper_timer.h"
#include "prov/uet/progress/post_habit.h"
#include "prov/uet/progress/reply_habit.h"

#include "fep/engine.h"

#include "base/result.h"
#include "base/time.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

namespace uet::prov {

// CLOCK_MONOTONIC, the time scale of every call into the engine.
Instant monotonic_now();

class ProgressEngine {
 public:
  struct Options {
    bool locking = true;         // false only with FI_THREAD_DOMAIN and helper off
    bool helper = true;          // FI_UET_HELPER: run the engine when nobody enters it (absence.h)
    bool auto_progress = false;  // FI_PROGRESS_AUTO: the helper does not wait for that
    Duration peers_wait = Duration::milliseconds(5);  // for answers, before they send again
  };

  // Starts the helper thread if one is asked for. Errc::io: no descriptor or thread to be had.
  static Result<std::unique_ptr<ProgressEngine>> create(std::unique_ptr<fep::Engine> engine,
                                                        const Options& options);
  // Stops the helper, without waiting for the network: see drain(). No thread is inside any more.
  ~ProgressEngine();
  // For the end of a process whose threads may still be inside: the helper stops, and what the
  // backend has buffered leaves. Calls go on as before, without a helper. Waits for a moment only,
  // because the thread that ends the process may be inside itself (a signal's handler).
  void retire();
  ProgressEngine(const ProgressEngine&) = delete;
  ProgressEngine& operator=(const ProgressEngine&) = delete;

  // One visit to the engine by an application thread: takes the lock, reads the clock once.
  // Everything that touches the stack (Ses, MemoryRegions, peers) or a completion queue happens
  // inside one. Not recursive. Throws CalledInForkedChild in one.
  class Entry {
   public:
    explicit Entry(ProgressEngine& owner) : owner_(owner), now_(owner.enter()) {}
    ~Entry() { owner_.leave(); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    Instant now() const { return now_; }
    fep::Engine& engine() { return *owner_.engine_; }
    fep::FabricEndpoint& fep() { return owner_.engine_->fep(); }
    ses::Ses& ses() { return owner_.engine_->fep().ses(); }
    // One bounded round of receiving, timers and sending.
    bool progress() {
      owner_.replies_.on_polled(now_);
      owner_.posts_.on_polled(now_);
      return owner_.run(now_);
    }
    // Receives and runs timers; what is to be sent waits for transmit() or hand_over().
    void collect() {
      owner_.ran_at_ = now_;
      owner_.engine_->collect(now_);
    }
    // After collect(), with a completion for the application: sends what waits, unless the
    // application is about to reply.
    void hand_over() {
      if (send_held() || !owner_.engine_->has_backlog()) return;
      const bool waits = owner_.replies_.on_delivered(monotonic_now()) && owner_.has_helper();
      if (!waits) owner_.transmit(now_);
    }
    // The application finds completions without the engine's help. True: posts had waited for this.
    bool send_held() {
      const bool held = owner_.posts_.is_holding();
      owner_.posts_.on_polled(now_);
      owner_.replies_.on_found();
      if (held) owner_.transmit(now_);
      owner_.attend(now_, kUnattended);
      return held;
    }
    // The same where nothing is taken away, so that it may go on for ever: all but the first such
    // look after a message are rounds of progress().
    void glance() {
      if (owner_.posts_.is_holding() || !owner_.replies_.on_glance()) progress();
    }
    // After collect(), without one.
    void send() {
      const bool held = owner_.posts_.is_holding();
      owner_.posts_.on_polled(now_);
      if (!owner_.replies_.on_glance()) owner_.replies_.on_polled(now_);
      if (!held && owner_.replies_.is_waiting()) return;
      if (owner_.engine_->has_backlog()) owner_.transmit(now_);
    }
    // Sends what may go now; does not receive.
    void transmit() {
      owner_.replies_.on_posted(now_);
      if (owner_.engine_->has_backlog()) owner_.transmit(now_);
    }
    // Posts since the application looked for completions.
    uint32_t posts_in_a_row() const { return owner_.posts_.in_a_row(); }
    // After a post (PostHabit::Post): it leaves now if it may, unless more are to follow.
    void posted(uint64_t bytes, uint32_t unfinished) {
      owner_.attend(now_, kUnattendedPosts);
      if (!owner_.posts_.on_posted({bytes, unfinished, owner_.may_hold_post()}, now_)) transmit();
    }
    // The same for a posted receive, which somebody may have waited for; no reply.
    void nudge() {
      if (owner_.replies_.is_waiting()) return;
      if (owner_.engine_->has_backlog()) owner_.transmit(now_);
    }
    // For callers that wait: nothing may be touched between the two; now() moves on.
    void leave() { owner_.leave(); }
    void reenter() { now_ = owner_.enter(); }

   private:
    ProgressEngine& owner_;
    Instant now_;
  };

  // For once, and with a helper. The errand must not refer to what ends before this object.
  void set_errand(std::unique_ptr<Errand> errand);

  // The process that opened the domain.
  const Home& home() const { return home_; }

  // Runs the engine, asleep between, until `done` says so. False: `limit` passed before.
  bool run_until(Duration limit, const std::function<bool(Entry&)>& done);

  // At exit(): until peers have confirmed every copied payload. How many are left; 0 without locks.
  uint32_t flush_copies(Duration limit);

  // Closes every PDC in order and runs the engine until nothing is left to do or `limit` passed.
  // For fi_close(domain), before the engine goes away.
  void drain(Duration limit);

  // errno of a network that fails; 0: it works. System calls; any thread.
  int io_failure() const { return engine_->io().failure(); }
  // Every counter of every layer. Lock held.
  void report_counters(const io::CounterSink& sink);

  // Calls `look` with the lock held, if it becomes free within `limit`. False: somebody kept it.
  // For tools and the end of the process; not a visit of the application.
  bool inspect(Duration limit, const std::function<void(fep::Engine&, Instant)>& look);

  Sleepers& sleepers() { return sleepers_; }  // for WaitObject, lock held
  void serve_sleepers();                      // the same: the helper watches the socket now
  // When somebody must run the engine at the latest, backlog included. Lock held.
  Instant wake_by(Instant now) const;
  // -1: the backend has none.
  int io_fd() const { return engine_->io().wait_fd(); }
  bool has_helper() const { return has_helper_.load(std::memory_order_relaxed); }

  // The address behind a PeerId. Lock held.
  const FabricAddress& peer_address(PeerId peer) { return engine_->fep().peers()[peer].address; }

  // For tests: how often the helper thread ran the engine, and how often it woke up at all.
  uint64_t helper_rounds() const { return helper_rounds_.load(std::memory_order_relaxed); }
  uint64_t helper_turns() const { return helper_turns_.load(std::memory_order_relaxed); }

 private:
  // What the helper waits for; changed with the lock held.
  enum class Watch : uint8_t {
    visits,  // that there are none for a while: they put its timer off
    pause,   // a while: it shall look again soon, or threads in WaitObject serve the engine
    engine,  // the engine's deadline and its socket
  };

  ProgressEngine(std::unique_ptr<fep::Engine> engine, const Options& options);
  // The helper thread sends what was held in vain; with automatic progress nobody need come by, and
  // a thread that sleeps already does not look again by itself.
  bool may_hold_post() const {
    return watch_ == Watch::visits && has_helper() && !options_.auto_progress && sleepers_.none();
  }
  bool run(Instant now) {
    ran_at_ = now;
    posts_.on_sent();
    return engine_->progress(now);
  }
  void transmit(Instant now) {
    posts_.on_sent();
    engine_->transmit(now);
  }
  // For visits that need nothing received, in case that all do: they keep the helper away.
  void attend(Instant now, Duration after) {
    if (now - ran_at_ > after) run(now);
  }
  void sleep_until(Instant until, Instant now) const;
  bool start_helper();
  void stop_helper();
  Instant enter();
  void leave();
  void await_absence(Instant now);
  void wake_helper();
  void run_helper();
  Instant helper_turn(uint64_t& seen);
  void helper_rest(Instant until);
  void helper_errand(bool called);

  EngineLock lock_;
  std::unique_ptr<fep::Engine> engine_;
  const Options options_;
  const Home home_;

  // Under the lock.
  ReplyHabit replies_;
  PostHabit posts_;
  Sleepers sleepers_;
  Instant ran_at_;  // when the engine last received
  Watch watch_ = Watch::pause;
  Instant watch_until_ = Instant::never();
  Instant awaited_since_;       // when the helper's timer was started last because of visits,
  uint64_t visits_before_ = 0;  // and entries_ then

  // A visit from then on starts the helper's timer again. Written under the lock, or by the helper
  // that finds somebody inside.
  std::atomic<Instant> put_off_at_{Instant::never()};
  std::atomic<uint64_t> entries_{0};  // visits so far; written under the lock, read by the helper
  std::atomic<uint64_t> helper_rounds_{0};
  std::atomic<uint64_t> helper_turns_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> has_helper_{false};  // started, and not stopped yet
  int wake_fd_ = -1;  // eventfd: a new deadline or stop
  HelperTimer timer_;
  std::unique_ptr<Errand> errand_owner_;
  std::atomic<Errand*> errand_{nullptr};
  // Helper only: what its rest ends by.
  bool watch_socket_ = false;
  bool watch_timer_ = false;
  Instant errand_due_ = Instant::zero();    // when it runs at the latest
  Instant errand_after_ = Instant::zero();  // before that its descriptor is not looked at
  std::thread helper_;
};

}  // namespace uet::prov
