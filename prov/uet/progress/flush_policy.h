// Decides when queued packets leave, and when the helper thread takes over: every decision of a
// domain, by the table in flush_table.h. A plain object: no lock, no clock, no engine. Each call
// reports an event and its time, and returns the row that decides. The caller holds the engine
// lock, and acts as the row says. Static functions need no lock. [decision 9]
#pragma once

#include "prov/uet/progress/flush_table.h"
#include "prov/uet/progress/post_habit.h"
#include "prov/uet/progress/reply_habit.h"

#include "base/time.h"

#include <cstdint>

namespace uet::prov {

// The application gets the completions that a poll finds, or they stay and are found again (a
// counter's value).
enum class Find : uint8_t {
  taken,
  stays
};
// Whether a poll has a result.
enum class Ready : uint8_t {
  no = 0,
  yes = 1,  // what `true` converts to
  own = 2,  // the end of an operation of the application, no message
};

class FlushPolicy {
 public:
  struct Options {
    bool auto_progress = false;  // FI_PROGRESS_AUTO: the helper does not wait for an absence
    Duration peers_wait = Duration::milliseconds(5);  // for answers, before they send again
  };
  // The other threads that may run the engine.
  struct Others {
    bool has_helper;     // a helper thread exists
    bool thread_sleeps;  // inside the provider, until something happens
  };
  // A call of the application posted a send, RMA or atomic operation.
  struct Operation {
    uint64_t bytes;
    uint32_t unfinished;  // unfinished operations of its endpoint, including this one
    bool more;            // FI_MORE
  };
  // It posted a receive.
  struct Receive {
    bool more;
  };
  // It was refused, or it cancelled something.
  struct Nothing {};
  // It was refused because its completion queue is full, and completions in it are unread.
  struct Unread {
    bool queued;  // there is something to send
  };
  // State at a helper's turn, or after it has run the engine.
  struct HelperSees {
    uint64_t visits;     // by the application so far
    bool timer_over;     // that visits put off
    bool must_serve;     // threads sleep, and none of them watches the socket
    bool thread_sleeps;  // some thread sleeps
  };

  explicit FlushPolicy(const Options& options) : options_(options) {}

  // The calls of the application.

  Decision on_post(const Operation& post, Others others, Instant now) {
    if (post.more) return Decision::post_more;
    const bool unattended = now - received_at_ > kUnattendedPosts;
    // The helper thread sends posts that waited too long while it watches visits; with automatic
    // progress it never does. A sleeping thread does not poll again by itself.
    const bool is_served =
        watch_ == Watch::visits && others.has_helper && !unattended && !others.thread_sleeps;
    const Decision decision = posts_.on_posted({post.bytes, post.unfinished, is_served}, now);
    if (decision == Decision::post_waits) return decision;
    replies_.on_posted(now);
    return unattended ? received(now, Decision::post_unattended) : decision;
  }
  Decision on_post(Receive post, Others others, Instant) {
    if (post.more) return Decision::receive_more;
    return awaits_reply(others) ? Decision::receive_waits : Decision::receive;
  }
  Decision on_post(Nothing, Others, Instant now) {
    replies_.on_posted(now);
    return Decision::no_post;
  }
  Decision on_post(Unread post, Others, Instant now) {
    if (now - received_at_ > kUnattended || posts_.is_overdue(now)) {
      posts_.on_polled(now);
      return received(now, Decision::unread_late);
    }
    posts_.on_found();
    return post.queued && !posts_.is_holding() ? Decision::unread_more : Decision::unread;
  }

  // A poll found a completion that was there before, and takes it.
  Decision on_found(Instant now) {
    replies_.on_found();
    const bool unattended = now - received_at_ > kUnattended;
    if (unattended || posts_.is_overdue(now)) {
      posts_.on_polled(now);
      return unattended ? received(now, Decision::found_unattended) : Decision::found_posts;
    }
    posts_.on_found();
    return posts_.is_holding() ? Decision::found_waits : Decision::found;
  }
  // The same for a counter that has reached the value that was waited for: nothing is taken.
  Decision on_stays(Instant now) {
    const bool held = posts_.is_holding();
    if (!held && replies_.on_glance()) return Decision::stays_reply;
    on_round(now);
    return held ? Decision::stays_posts : Decision::stays;
  }
  // What a poll finds, and what is queued to be sent.
  struct Came {
    bool is_message;  // a message of a peer, not the end of an operation of the application
    bool queued;      // there is something to send
    bool pressed;     // more than ACKs that no peer waits for
  };
  // A poll made the engine receive at `looked_at`, and finds a completion at `now`.
  Decision on_came(Came came, Instant looked_at, Instant now, Others others) {
    received_at_ = looked_at;
    const bool held = posts_.is_holding();
    posts_.on_polled(looked_at);
    replies_.on_found();
    if (held) return Decision::came_posts;
    if (!came.queued) return Decision::came_nothing;
    if (!came.is_message && others.has_helper) {
      on_arrival(now);
      const bool waits = !came.pressed && expects_more(others, now);
      return waits ? Decision::came_own : Decision::came_no_habit;
    }
    const bool waits = came.is_message && replies_.on_delivered(now);
    if (!others.has_helper) return Decision::came_unserved;
    return waits ? Decision::came_waits : Decision::came_no_habit;
  }
  // State after such a poll.
  struct Look {
    bool arrived;  // packets came
    bool pressed;  // more is queued than ACKs that no peer waits for
  };
  // A poll made the engine receive, and finds nothing.
  Decision on_vain(Look look, Others others, Instant now) {
    received_at_ = now;
    if (look.arrived) on_arrival(now);
    const bool held = posts_.is_holding();
    posts_.on_polled(now);
    if (!replies_.on_glance()) replies_.on_polled(now);
    if (held) return Decision::vain_posts;
    if (awaits_reply(others)) return Decision::vain_reply;
    const bool waits = !look.pressed && expects_more(others, now);
    return waits ? Decision::vain_arriving : Decision::vain;
  }
  // A call that wants progress and takes no completion.
  Decision on_round(Instant now) {
    replies_.on_polled(now);
    posts_.on_polled(now);
    return received(now, Decision::round);
  }
  // The engine ran for another reason.
  void on_ran(Instant now) {
    received_at_ = now;
    posts_.on_sent();
  }

  // Posts wait. Meanwhile a poll that finds a completion asks for no other decision.
  bool holds_posts() const { return posts_.is_holding(); }
  // Operations posted since the application looked for completions.
  uint32_t posts_in_a_row() const { return posts_.in_a_row(); }

  // The helper thread.

  Watch watch() const { return watch_; }
  // A visit at or after put_off_at(), or the helper found that there were visits: restarts the
  // helper's timer for the time in the row; a visit at put_off_at() or later asks again.
  Decision on_visit(uint64_t visits, Instant now);
  Instant put_off_at() const { return put_off_at_; }
  // A visit ends. True: left_earlier, the helper has to be woken. Ask only while it watches the
  // engine; `deadline` is the engine's.
  bool on_left(Instant deadline) {
    if (deadline >= watch_until_) return false;
    watch_ = row_of(Decision::left_earlier).watch;
    return true;
  }
  // The thread that watched the socket for other sleepers has stopped: the helper must be woken.
  void on_unserved() { watch_ = row_of(Decision::unserved).watch; }
  // The helper is awake and a thread is inside. Needs no lock.
  static Decision on_busy(bool must_serve, bool auto_progress);
  // The helper is awake and inside: `helper`, or a row of visits.
  Decision on_helper(const HelperSees& sees, Instant now);
  // Then, after the round: how long it rests. `wake_by`: when the engine must run.
  Decision on_helper_ran(bool moved, const HelperSees& sees, Instant wake_by);
  // When a thread that rests must run the engine at the latest.
  static Instant wake_by(Instant deadline, bool queued, Instant now);

 private:
  // Average time between the visits of an application that polls all the time.
  static constexpr Duration kSteadyVisit = Duration::microseconds(100);

  // The kernel takes up to 8 us for a super-packet, so the next one of a message is there by then.
  static constexpr Duration kArriving = Duration::microseconds(8);
  // A peer that sends all the time must not hold up the ACKs for others.
  static constexpr Duration kArrivingMost = Duration::microseconds(50);

  void on_arrival(Instant now) {
    if (now - arrived_at_ >= kArriving) arriving_since_ = now;
    arrived_at_ = now;
  }
  // The rest of a message that will be answered.
  bool expects_more(Others others, Instant now) const {
    return now - arrived_at_ < kArriving && now - arriving_since_ < kArrivingMost &&
           replies_.is_habit() && others.has_helper;
  }
  bool awaits_reply(Others others) const { return replies_.is_waiting() && others.has_helper; }
  // The caller runs a round.
  Decision received(Instant now, Decision decision) {
    received_at_ = now;
    return decision;
  }

  const Options options_;
  ReplyHabit replies_;
  PostHabit posts_;
  Instant received_at_;     // when the engine last received
  Instant arrived_at_;      // when a poll that found no message last received packets
  Instant arriving_since_;  // the first of such polls in a row, less than kArriving apart
  Watch watch_ = Watch::pause;
  Instant watch_until_ = Instant::never();  // while it watches the engine
  Instant put_off_at_ = Instant::never();
  Instant awaited_since_;       // when the helper's timer was started last because of visits,
  uint64_t visits_before_ = 0;  // and how many there had been
  uint64_t visits_seen_ = 0;    // when the helper came in last
};

}  // namespace uet::prov
