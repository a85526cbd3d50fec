// The EVs that were marked within the last round trip, in two sets that alternate: a bit for each
// EV instead of a time. [CMS-154]
#pragma once

#include "cms/entropy/range.h"

#include "base/time.h"

#include <bitset>

namespace uet::cms {

class RecentMarks {
 public:
  explicit RecentMarks(Duration rtt) : rtt_(rtt) {}

  // A sample of the round trip. Zero and less are ignored.
  void on_rtt(Duration rtt) {
    if (rtt > Duration::zero()) rtt_ = rtt_ + (rtt - rtt_) / 8;
  }
  // Smoothed; before the first sample as given.
  Duration rtt() const { return rtt_; }
  // Call before the two below. A mark is of this round for a round trip at most, and then of the
  // round before: it is forgotten when it is a round trip old at least, and two at most if this is
  // called often.
  void on_time(Instant now) {
    const Duration passed = now - round_at_;
    if (passed < rtt_) return;
    before_ = passed < rtt_ * 2 ? recent_ : Set{};
    recent_.reset();
    round_at_ = now;
  }
  void add(uint32_t index) { recent_.set(index); }
  bool has(uint32_t index) const { return recent_[index] || before_[index]; }

 private:
  using Set = std::bitset<kTrackedEntropyMax>;

  Set recent_;  // marked in this round
  Set before_;  // in the one before
  Instant round_at_;
  Duration rtt_;  // smoothed
};

}  // namespace uet::cms
