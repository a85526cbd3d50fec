// Whether a thread that waits for a completion polls for a while before it sleeps. A wake-up takes
// longer than most answers, so polling pays where nearly all waits are short, as in exchanges of
// small messages. Where some are long, as in a stream at a fixed rate, it uses more processor time
// than it saves.
#pragma once

#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::prov {

class SpinHabit {
 public:
  // How long to poll before sleeping.
  Duration patience() const { return spins_ ? kSpin : Duration::zero(); }

  // A wait has ended with what it waited for.
  void on_answered(Duration took) {
    if (spins_) {
      credit_ = took <= kSpin ? std::min(credit_ + 1, kRun) : credit_ - std::min(credit_, kLoss);
      spins_ = credit_ > 0;
    } else {
      credit_ = took <= kShort ? credit_ + 1 : 0;
      spins_ = credit_ == kRun;
    }
  }
  // Its time was up. A wait that was to be short shows nothing.
  void on_time_up(Duration took) {
    if (took > kShort) on_answered(took);
  }

 private:
  // A thread wakes up 20 to 26 us after the packet came, on the reference machine [decision 8]:
  // waiting twice that long first is never much dearer than the best choice.
  static constexpr Duration kSpin = Duration::microseconds(40);
  // Of a wait between two ends that sleep, with a wake-up at each.
  static constexpr Duration kShort = kSpin + Duration::microseconds(50);
  static constexpr uint32_t kRun = 16;  // short waits in a row, until one polls again
  static constexpr uint32_t kLoss = 8;  // short waits that make up for a long one, while one polls

  bool spins_ = true;
  uint32_t credit_ = kRun;  // at most kRun
};

}  // namespace uet::prov
