// Whether the application posts several sends in a row before it looks for completions. If that is
// its habit, small ones wait for each other and leave in one system call, the last ones when it
// looks. One delay that was in vain ends the habit; the helper thread sends what waited.
#pragma once

#include "prov/uet/absence.h"

#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::prov {

class PostHabit {
 public:
  // Something of `bytes` to send was posted. True: it may wait for more.
  bool on_posted(uint64_t bytes, Instant now) {
    if (run_ < kRun) ++run_;
    last_at_ = now;
    const bool is_room = held_ + 1 < kHeldMax && held_bytes_ + bytes < kHeldBytesMax;
    const bool waits = runs_ >= kHabit && run_ > kAtOnce && is_room &&
                       (held_ == 0 || now - held_since_ <= kPatience);
    if (waits && held_ == 0) held_since_ = now;
    held_ = waits ? held_ + 1 : 0;
    held_bytes_ = waits ? held_bytes_ + bytes : 0;
    return waits;
  }

  bool is_holding() const { return held_ > 0; }

  // The application looked for completions: all leaves.
  void on_polled(Instant now) {
    if (run_ == 0) return;
    const bool was_prompt = now - last_at_ <= kPatience;
    if (!was_prompt && held_ > 0) {
      const Duration in_vain = std::min(now - held_since_, kSteadyAbsence);
      runs_ = -static_cast<int32_t>(in_vain.ns() / kSaved.ns());
    } else if (!was_prompt && run_ == kRun) {
      runs_ = std::min(runs_, 0);
    } else if (run_ == kRun && runs_ < kHabit) {
      ++runs_;
    }
    run_ = held_ = 0;
    held_bytes_ = 0;
  }

 private:
  static constexpr uint32_t kRun = 8;   // posts in a row that show the habit
  static constexpr int32_t kHabit = 2;  // such runs
  // What a run of kRun saves. As many more make up for the time that the posts before waited in
  // vain, at most until the helper came by.
  static constexpr Duration kSaved = Duration::microseconds(15);
  static constexpr uint32_t kAtOnce = 2;  // the first of a run leave: something is on its way then
  static constexpr uint32_t kHeldMax = 32;
  static constexpr uint64_t kHeldBytesMax = 48 * 1024;  // with headers about one super-packet
  static constexpr Duration kPatience = Duration::microseconds(20);

  Instant last_at_;     // the latest post
  Instant held_since_;  // the first of those that wait
  uint32_t run_ = 0;    // posts since the application looked, at most kRun
  int32_t runs_ = 0;    // runs of kRun that ended with a prompt look, at most kHabit
  uint32_t held_ = 0;   // posts that wait
  uint64_t held_bytes_ = 0;
};

}  // namespace uet::prov
