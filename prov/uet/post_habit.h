// Whether the application posts several sends in a row before it looks for completions. If that is
// its habit, small ones wait for each other and leave in one system call, the last ones when as
// many are posted as usual, or when it looks. One delay that was in vain ends the habit.
//
// A post leaves at once                          | else it waits
// -----------------------------------------------+------------------------------------------
// nobody would send it later                     | for the next post, for kPatience at most
// no habit; the first kAtOnce of a run           | for the post that fills a super-packet
// nothing earlier of the endpoint is unfinished  | for the post that ends a run of usual length
// a run has its usual length now                 | for the next look
// what waits fills a super-packet, or did so for | for the helper thread: kHeldLimit after the
//   kPatience                                    |   first that waits, later where is_trusted()
#pragma once

#include "prov/uet/absence.h"

#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::prov {

class PostHabit {
 public:
  // So long may a post wait for the helper thread.
  static constexpr Duration kHeldLimit = Duration::microseconds(100);

  struct Post {
    uint64_t bytes;
    uint32_t unfinished;  // operations of its endpoint, this one included
    bool is_served;       // somebody sends it when the application does not come back
  };

  // True: it may wait for more.
  bool on_posted(const Post& post, Instant now) {
    if (run_ < kRunMax) ++run_;
    last_at_ = now;
    const bool is_room = held_ + 1 < kHeldMax && held_bytes_ + post.bytes < kHeldBytesMax;
    const bool waits = is_habit() && run_ > kAtOnce && run_ != usual_ && is_room &&
                       post.is_served && post.unfinished > held_ + 1 &&
                       (held_ == 0 || now - held_since_ <= kPatience);
    if (waits && held_ == 0) held_since_ = now;
    held_ = waits ? held_ + 1 : 0;
    held_bytes_ = waits ? held_bytes_ + post.bytes : 0;
    return waits;
  }

  // The post left, and others with it: the application could do nothing else meanwhile.
  void on_left(Instant now) { last_at_ = now; }
  bool is_habit() const { return runs_ >= kHabit; }

  bool is_holding() const { return held_ > 0; }
  // When the helper must send what waits.
  Instant held_until() const { return held_ > 0 ? held_since_ + kHeldLimit : Instant::never(); }
  // Nothing is expected to wait for the helper: so many posts came in runs of one length that what
  // these saved makes up for one wait until the helper finds the application absent. A timer for
  // kHeldLimit in each run would cost more than such runs save.
  bool is_trusted() const { return equal_posts_ >= kTrust && run_ < usual_; }

  // Everything left, for a reason of its own.
  void on_sent() {
    held_ = 0;
    held_bytes_ = 0;
  }
  // Everything left because the helper came by.
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
    } else if (!was_prompt && run_ >= kRun) {
      runs_ = std::min(runs_, 0);
    } else if (run_ >= kRun) {
      if (runs_ < kHabit) ++runs_;
      equal_posts_ = run_ == usual_ ? std::min(equal_posts_ + run_, kTrust) : 0;
      usual_ = run_;
    }
    run_ = 0;
    on_sent();
  }

 private:
  static constexpr uint32_t kRun = 8;        // posts in a row that show the habit
  static constexpr uint32_t kRunMax = 4096;  // longer runs are not told apart
  static constexpr int32_t kHabit = 2;       // such runs
  // What a run of kRun saves. As many more make up for the time that the posts before waited in
  // vain, at most until the helper came by.
  static constexpr Duration kSaved = Duration::microseconds(15);
  static constexpr auto kTrust = static_cast<uint32_t>(kSteadyAbsence.ns() / kSaved.ns() * kRun);
  static constexpr uint32_t kAtOnce = 2;  // the first of a run leave: something is on its way then
  static constexpr uint32_t kHeldMax = 32;
  static constexpr uint64_t kHeldBytesMax = 48 * 1024;  // with headers about one super-packet
  static constexpr Duration kPatience = Duration::microseconds(20);

  void lose(Instant now) {
    const Duration in_vain = std::min(now - held_since_, kSteadyAbsence);
    runs_ = -static_cast<int32_t>(in_vain.ns() / kSaved.ns());
    if (in_vain >= kHeldLimit) equal_posts_ = 0;
  }

  Instant last_at_;     // the latest post, or when it had left
  Instant held_since_;  // the first of those that wait
  uint32_t run_ = 0;    // posts since the application looked, at most kRunMax
  uint32_t usual_ = 0;  // length of the latest run of kRun or more that ended with a prompt look
  int32_t runs_ = 0;    // such runs, at most kHabit; below 0: how many are owed
  uint32_t equal_posts_ = 0;  // of the latest of them that had one length, at most kTrust
  uint32_t held_ = 0;         // posts that wait
  uint64_t held_bytes_ = 0;
};

}  // namespace uet::prov
