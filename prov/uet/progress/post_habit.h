// Whether the application posts several sends in a row before a poll finds nothing. If that is its
// habit, they wait for each other and leave in few system calls. Polls that find an earlier
// completion do not end a run: a program that posts one for each completion polls on until none is
// left.
//
// When a post waits, and why it leaves: the rows "a post" of flush_table.h.
//
// No timer ends a wait: that costs more than a run saves. Instead, after a wait that saved nothing,
// no post waits for a while: until later runs are so long that waiting would have saved the time
// that the failed wait cost.
#pragma once

#include "prov/uet/progress/absence.h"
#include "prov/uet/progress/flush_table.h"

#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::prov {

class PostHabit {
 public:
  struct Post {
    uint64_t bytes;
    uint32_t unfinished;  // unfinished operations of its endpoint, including this one
    bool is_served;       // the helper sends it if the application does not return
  };

  // post_waits: the post may wait for more posts. Any other row: it leaves with all waiting ones.
  Decision on_posted(const Post& post, Instant now) {
    if (run_ < kRunMax) ++run_;
    if (in_a_row_ < kRunMax) ++in_a_row_;
    last_at_ = now;
    const Decision decision = judge(post, now);
    const bool waits = decision == Decision::post_waits;
    if (waits && held_ == 0) held_since_ = now;
    held_ = waits ? held_ + 1 : 0;
    held_bytes_ = waits ? held_bytes_ + post.bytes : 0;
    return decision;
  }

  // Posts without any poll between.
  uint32_t in_a_row() const { return in_a_row_; }
  bool is_holding() const { return held_ > 0; }
  // No next post came within kPatience, nor a look.
  bool is_overdue(Instant now) const { return held_ > 0 && now - held_since_ > kPatience; }

  // All packets left, for another reason.
  void on_sent() {
    held_ = 0;
    held_bytes_ = 0;
  }
  // Everything leaves because the helper came by, or a visit that found it overdue.
  void on_sent_late(Instant now) {
    if (held_ == 0) return;
    lose(now);
    on_sent();
  }

  // A poll found a completion that was there before: the application will poll again.
  void on_found() { in_a_row_ = 0; }

  // A poll made the engine receive, or found that posts have waited too long: all leaves.
  void on_polled(Instant now) {
    in_a_row_ = 0;
    if (run_ == 0) return;
    const bool was_prompt = now - last_at_ <= kPatience;
    if (!was_prompt && held_ > 0) {
      lose(now);
    } else if (was_prompt && run_ >= kRun) {
      owed_ = owed_ - std::min(kSaved * run_, owed_);
      usual_ = run_;
    }
    run_ = 0;
    on_sent();
  }

 private:
  static constexpr uint32_t kRun = 8;        // posts in a row that may be a habit
  static constexpr uint32_t kRunMax = 4096;  // longer runs count as this long
  static constexpr Duration kSaved = Duration::nanoseconds(1875);  // by each post of a run
  static constexpr uint32_t kTrial = 300;  // posts in runs that make the habit
  static constexpr uint32_t kAtOnce = 2;  // the first of a run leave, if nothing else is on its way
  static constexpr uint32_t kHeldMax = 64;
  static constexpr uint64_t kHeldBytesMax = 128 * 1024;  // what two super-packets carry
  static constexpr Duration kPatience = Duration::microseconds(20);

  bool is_habit() const { return owed_ == Duration::zero(); }
  Decision judge(const Post& post, Instant now) const {
    if (!post.is_served) return Decision::post_unserved;
    if (!is_habit()) return Decision::post_no_habit;
    if (run_ <= kAtOnce && post.unfinished <= run_) return Decision::post_first;
    if (post.unfinished <= held_ + 1) return Decision::post_alone;
    if (run_ == usual_) return Decision::post_last;
    if (held_ + 1 >= kHeldMax || held_bytes_ + post.bytes > kHeldBytesMax) {
      return Decision::post_full;
    }
    if (held_ != 0 && now - held_since_ > kPatience) return Decision::post_late;
    return Decision::post_waits;
  }
  // The posts waited, and no further post came.
  void lose(Instant now) { owed_ = std::min(now - held_since_, kSteadyAbsence); }

  Instant last_at_;     // the latest post
  Instant held_since_;  // the first of the waiting posts
  uint32_t run_ = 0;    // posts since the engine received, at most kRunMax
  uint32_t in_a_row_ = 0;
  uint32_t usual_ = 0;  // length of the latest run of kRun or more that ended with a prompt look
  uint32_t held_ = 0;   // posts that wait
  Duration owed_ = kSaved * kTrial;  // what such runs have to save until posts wait
  uint64_t held_bytes_ = 0;
};

}  // namespace uet::prov
