// Runs a domain's engine: the lock around it, the three kinds of visits (post, poll, wait), and the
// helper thread for times without calls. FlushPolicy decides which packets a visit sends.
// Independent of completions; threads that wait for one use WaitObject. [architecture 5]
#pragma once

#include "prov/uet/completion/sleepers.h"
#include "prov/uet/progress/clock.h"
#include "prov/uet/progress/engine_lock.h"
#include "prov/uet/progress/engine_seat.h"
#include "prov/uet/progress/flush_policy.h"
#include "prov/uet/progress/helper_thread.h"
#include "prov/uet/progress/home.h"
#include "prov/uet/progress/turn.h"

#include "fep/engine.h"

#include "base/result.h"
#include "base/time.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace uet::prov {

class ProgressEngine {
 public:
  struct Options {
    bool locking = true;         // false only with FI_THREAD_DOMAIN and helper off
    bool helper = true;          // FI_UET_HELPER: run the engine while the application does not
    bool auto_progress = false;  // FI_PROGRESS_AUTO: the helper does not wait for that
    bool by_owner = false;       // FI_PEER: calls that post receive no packets, which would be kept
    Duration peers_wait = Duration::milliseconds(5);  // for answers, before they send again
    Duration patience = Duration::zero();             // of polls that find nothing; see YieldHabit
  };

  // Starts the helper thread if one is asked for. Errc::io: no descriptor or thread to be had.
  static Result<std::unique_ptr<ProgressEngine>> create(std::unique_ptr<fep::Engine> engine,
                                                        const Options& options);
  // Stops the helper, without waiting for the network: see drain(). No thread is inside any more.
  ~ProgressEngine();
  // For the end of a process whose threads may still be inside: the helper stops, and packets in
  // the backend's buffer leave. Calls work as before, without a helper. Waits for a moment only,
  // because the thread that ends the process may be inside itself (a signal's handler).
  void retire();
  ProgressEngine(const ProgressEngine&) = delete;
  ProgressEngine& operator=(const ProgressEngine&) = delete;

  // One visit to the engine by an application thread: takes the lock, reads the clock once.
  // Everything that touches the stack (Ses, MemoryRegions, peers) or a completion queue happens
  // inside one. Not recursive. Throws CalledInForkedChild or CalledBack; see Home.
  class Entry {
   public:
    explicit Entry(ProgressEngine& owner) : now_(owner.enter()), owner_(owner) {}
    // The engine that serves the object with that seat.
    explicit Entry(const EngineSeat& seat) : owner_(enter(seat, now_)) {}
    ~Entry() { owner_.leave(); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    Instant now() const { return now_; }
    fep::Engine& engine() { return *owner_.engine_; }
    fep::FabricEndpoint& fep() { return owner_.engine_->fep(); }
    ses::Ses& ses() { return owner_.engine_->fep().ses(); }
    // The three verbs: post, poll and wait. round() and turn() are polls where queues have another
    // owner (FI_PEER). Each reports to the policy what happened and does what the policy decides;
    // none needs to be followed by another.

    // The call has posted something, or was refused and may have left earlier posts behind.
    // `what`: FlushPolicy::Operation, Receive, Nothing or Unread.
    template <class What>
    void post(const What& what) {
      owner_.flush(owner_.policy_.on_post(what, owner_.others(), now_), now_);
    }
    // A call that wants whatever the engine can do: one bounded round of receiving, timers and
    // sending. True: something moved.
    bool poll() { return owner_.flush(owner_.policy_.on_round(now_), now_); }
    // Like poll(), but receives packets even where calls that post do not (FI_PEER): for calls that
    // look for completions, and for set-up calls.
    bool round() {
      const Raised turn(owner_.is_turn_);
      return poll();
    }
    // A poll. `ready` is called with the lock held, and returns whether the call has a result: a
    // bool or a Ready. If not, the engine receives first. Returns whether there is a result then.
    template <class Asked>
    bool poll(Asked asked, Find find = Find::taken) {
      FlushPolicy& policy = owner_.policy_;
      Decision decision;
      Ready ready = Ready(asked());
      if (ready != Ready::no) {
        decision = find == Find::stays ? policy.on_stays(now_) : policy.on_found(now_);
      } else {
        const bool arrived = owner_.engine_->collect(now_);
        ready = Ready(asked());
        decision = ready != Ready::no ? came(ready) : vain(arrived);
      }
      owner_.flush(decision, now_);
      return ready != Ready::no;
    }
    // The owner's turn: a poll of its queue or counter. Owners are asked for receives only here.
    // `deliver` hands over their entries, before and after. [LF-159]
    template <class Deliver, class Asked>
    void turn(Deliver deliver, Asked ready) {
      call_out([&] {
        deliver();
        {
          const Raised turn(owner_.is_turn_);
          const AskingTurn asking(ses(), now_);
          poll(ready);
        }
        deliver();
      });
    }
    // The only way to call an owner: its calls of uet meanwhile are refused. [LF-159]
    template <class Calls>
    void call_out(Calls calls) {
      const Home::CallOut out(owner_.home_);
      calls();
    }
    // A completion that its owner refused for good.
    void count_lost_at_owner() { ++owner_.lost_at_owner_; }
    // Leaves the engine while `rest` runs, and comes back: now() moves on. Nothing of the engine
    // may be touched in `rest`.
    template <class Rest>
    void wait(Rest rest) {
      owner_.leave();
      rest();
      now_ = owner_.enter();
    }
    // How long a thread polls without a result before it yields.
    Duration patience() const { return owner_.options_.patience; }
    // Posts since the application looked for completions.
    uint32_t posts_in_a_row() const { return owner_.policy_.posts_in_a_row(); }

   private:
    // The time when the message is handed over counts, where anything depends on it.
    Decision came(Ready ready) {
      FlushPolicy& policy = owner_.policy_;
      const bool queued = !policy.holds_posts() && owner_.engine_->has_backlog();
      const Instant at = queued ? monotonic_now() : now_;
      const bool pressed = ready == Ready::own && owner_.engine_->has_backlog(Work::pressing);
      return policy.on_came({ready != Ready::own, queued, pressed}, now_, at, owner_.others());
    }

    Decision vain(bool arrived) {
      const FlushPolicy::Look look{arrived, owner_.engine_->has_backlog(Work::pressing)};
      return owner_.policy_.on_vain(look, owner_.others(), now_);
    }

    static ProgressEngine& enter(const EngineSeat& seat, Instant& now) {
      for (;;) {
        ProgressEngine& engine = seat.engine();
        now = engine.enter();
        if (seat.is_at(engine)) return engine;
        engine.leave();
      }
    }

    Instant now_;
    ProgressEngine& owner_;
  };

  // The process that opened the domain.
  const Home& home() const { return home_; }

  // Runs the engine, asleep between, until `done` says so. False: `limit` passed before.
  bool run_until(Duration limit, const std::function<bool(Entry&)>& done);

  // At exit(): until peers have confirmed every copied payload. How many are left; 0 without locks.
  uint32_t flush_copies(Duration limit);

  // Closes every PDC in order and runs the engine until nothing is left to do or `limit` passed.
  // For fi_close(domain), before the engine goes away.
  void drain(Duration limit);

  // The backend: failure() from any thread; wait_fd() and on_sleep() for a thread that is about to
  // sleep, lock held.
  io::PacketIo& io() const { return engine_->io(); }
  // Every counter of every layer. Lock held.
  void report_counters(const io::CounterSink& sink);

  // Calls `look` with the lock held, if it becomes free within `limit`. False: it did not.
  // For tools and the end of the process; not a visit of the application.
  bool inspect(Duration limit, const std::function<void(fep::Engine&, Instant)>& look);

  Sleepers& sleepers() { return sleepers_; }  // for WaitObject, lock held
  void serve_sleepers();                      // the same: the helper watches the socket now
  // The latest time for the next run of the engine, backlog included. Lock held.
  Instant wake_by(Instant now) const {
    return FlushPolicy::wake_by(engine_->next_deadline(), engine_->has_backlog(), now);
  }
  // The thread that runs the engine when there are no visits; it may not run.
  HelperThread& helper() { return helper_; }

  // The record of a peer, valid until the next call. Lock held.
  const pds::Peer& peer(PeerId id) { return engine_->fep().peers()[id]; }

  // For tests: in how many of its turns the helper ran the engine.
  uint64_t helper_rounds() const { return helper_rounds_.load(std::memory_order_relaxed); }

 private:
  ProgressEngine(std::unique_ptr<fep::Engine> engine, const Options& options);
  FlushPolicy::Others others() const { return {helper_.is_running(), !sleepers_.none()}; }
  // Acts as the row says. True: a round moved packets.
  bool flush(Decision decision, Instant now) {
    const Flush what = kFlushColumn.of[static_cast<size_t>(decision)];
    return what != Flush::wait && flush_now(what, now);
  }
  bool flush_now(Flush what, Instant now);
  void sleep_until(Instant until, Instant now) const;
  bool start_helper();
  Instant enter();
  void leave();
  void start_timer(Decision decision, Instant now);
  Instant helper_turn(RestEnds& ends);
  Instant helper_kept_out();
  void set_helper_watches(bool watches);

  EngineLock lock_;
  std::unique_ptr<fep::Engine> engine_;
  const Options options_;
  const Home home_;

  // Under the lock.
  FlushPolicy policy_;
  Sleepers sleepers_;
  bool is_turn_ = false;  // packets are received for the caller
  uint64_t lost_at_owner_ = 0;
  bool helper_watches_ = false;  // the backend knows that the helper sleeps on wait_fd()

  // A visit from then on starts the helper's timer again. Written under the lock, or by the helper
  // that finds a thread inside.
  std::atomic<Instant> put_off_at_{Instant::never()};
  // The helper sleeps on wait_fd(). Set under the lock; the helper takes it back when it wakes up.
  std::atomic<bool> helper_on_socket_{false};
  std::atomic<uint64_t> entries_{0};  // visits so far; written under the lock, read by the helper
  std::atomic<uint64_t> helper_rounds_{0};
  HelperThread helper_;
};

}  // namespace uet::prov
