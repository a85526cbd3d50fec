// Whether a thread that waits for a completion polls for a while before it sleeps. A wake-up takes
// longer than most answers, so polling pays where nearly all waits are short, as in exchanges of
// small messages. Where some are long, as in a stream at a fixed rate, it uses more processor time
// than it saves.
#pragma once

#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::prov {

class PollHabit {
 public:
  // How long to poll before sleeping.
  Duration patience() const { return polls_ ? kPolling : Duration::zero(); }

  // A wait has ended with what it waited for.
  void on_answered(Duration took) {
    if (polls_) {
      short_waits_ = took <= kPolling ? std::min(short_waits_ + 1, kToBegin)
                                      : short_waits_ - std::min(short_waits_, kForLong);
      polls_ = short_waits_ > 0;
    } else {
      short_waits_ = took <= kShort ? short_waits_ + 1 : 0;
      polls_ = short_waits_ == kToBegin;
    }
  }
  // Its time was up. A wait that was to be short shows nothing.
  void on_time_up(Duration took) {
    if (took > kShort) on_answered(took);
  }

 private:
  // A thread wakes up 20 to 26 us after the packet came, on the reference machine [decision 8]:
  // waiting twice that long first is never much dearer than the best choice.
  static constexpr Duration kPolling = Duration::microseconds(40);
  // Of a wait between two ends that sleep, with a wake-up at each.
  static constexpr Duration kShort = kPolling + Duration::microseconds(50);
  static constexpr uint32_t kToBegin = 16;  // short waits in a row, until a thread polls again
  static constexpr uint32_t kForLong = 8;   // short waits that make up for a long one

  bool polls_ = true;
  uint32_t short_waits_ = kToBegin;  // the long ones taken off; at most kToBegin
};

}  // namespace uet::prov
