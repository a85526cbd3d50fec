// Whether the application posts several sends in a row before it looks for completions. If that is
// its habit, they wait for each other and leave in few system calls.
//
// A post leaves at once                          | else it waits
// -----------------------------------------------+------------------------------------------
// nobody would send it later                     | for the next post, for kPatience at most
// no habit; the first kAtOnce of a run           | for the post that is too much to wait
// nothing earlier of the endpoint is unfinished  | for the post that makes the run as long as
// a run has its usual length now                 |   the one before
// what waits is as much as may, or did so for    | for the next look
//   kPatience                                    | for the helper thread, until that finds the
//                                                |   application absent
//
// No timer guards what waits: that costs more than a run saves. Instead a wait in vain is a debt:
// nothing waits until as many posts as would have saved that time have come in runs.
#pragma once

#include "prov/uet/progress/absence.h"

#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::prov {

class PostHabit {
 public:
  struct Post {
    uint64_t bytes;
    uint32_t unfinished;  // operations of its endpoint, this one included
    bool is_served;       // somebody sends it when the application does not come back
  };

  // True: it may wait for more.
  bool on_posted(const Post& post, Instant now) {
    if (run_ < kRunMax) ++run_;
    last_at_ = now;
    const bool is_room = held_ + 1 < kHeldMax && held_bytes_ + post.bytes <= kHeldBytesMax;
    const bool waits = is_habit() && run_ > kAtOnce && run_ != usual_ && is_room &&
                       post.is_served && post.unfinished > held_ + 1 &&
                       (held_ == 0 || now - held_since_ <= kPatience);
    if (waits && held_ == 0) held_since_ = now;
    held_ = waits ? held_ + 1 : 0;
    held_bytes_ = waits ? held_bytes_ + post.bytes : 0;
    return waits;
  }

  uint32_t in_a_row() const { return run_; }
  bool is_holding() const { return held_ > 0; }
  // No next post came within kPatience, nor a look.
  bool is_overdue(Instant now) const { return held_ > 0 && now - held_since_ > kPatience; }

  // Everything left, for a reason of its own.
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

  // The application looked for completions: all leaves.
  void on_polled(Instant now) {
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
  static constexpr uint32_t kRunMax = 4096;  // longer runs are not told apart
  static constexpr Duration kSaved = Duration::nanoseconds(1875);  // by each post of a run
  static constexpr uint32_t kTrial = 300;  // posts in runs that make the habit
  static constexpr uint32_t kAtOnce = 2;  // the first of a run leave: something is on its way then
  static constexpr uint32_t kHeldMax = 32;
  static constexpr uint64_t kHeldBytesMax = 128 * 1024;  // what two super-packets carry
  static constexpr Duration kPatience = Duration::microseconds(20);

  bool is_habit() const { return owed_ == Duration::zero(); }
  // The posts waited in vain.
  void lose(Instant now) { owed_ = std::min(now - held_since_, kSteadyAbsence); }

  Instant last_at_;     // the latest post
  Instant held_since_;  // the first of those that wait
  uint32_t run_ = 0;    // posts since the application looked, at most kRunMax
  uint32_t usual_ = 0;  // length of the latest run of kRun or more that ended with a prompt look
  uint32_t held_ = 0;   // posts that wait
  Duration owed_ = kSaved * kTrial;  // what such runs have to save until posts wait
  uint64_t held_bytes_ = 0;
};

}  // namespace uet::prov
