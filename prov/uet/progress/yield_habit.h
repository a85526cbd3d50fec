// When an application whose polls find no completion yields its processor: the peer that it
// waits for may need it. If no other thread needed the processor, the next yield comes later.
// MPI yields by itself when there are more ranks than processors. Then time passes between its
// polls, and this class does not yield in addition.
#pragma once

#include "base/time.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace uet::prov {

class YieldHabit {
 public:
  // A poll found nothing. True: yield, and then call on_yielded(). patience: the least time between
  // the first such poll and a yield, if polls take much less time than an answer.
  bool on_nothing(Instant now, Duration patience = Duration::zero()) {
    const bool at_once = now - last_.load(std::memory_order_relaxed) < kApart;
    last_.store(now, std::memory_order_relaxed);
    vain_looks_ = at_once ? std::min(vain_looks_ + 1, kVainLooks) : 1;
    if (vain_looks_ == 1) first_ = now;
    return vain_looks_ == kVainLooks &&
           now - first_ >= std::max(patience, learned_.load(std::memory_order_relaxed)) &&
           now >= again_at_.load(std::memory_order_relaxed);
  }
  void on_something() { vain_looks_ = 0; }
  // How long the yield took. Needs no lock.
  void on_yielded(Instant begin, Instant end) {
    const Duration took = end - begin;
    Duration pause = kPause;
    if (took >= kOthersRan) {
      pause = took >= kLong ? kPatience : Duration::zero();
      learned_.store(pause, std::memory_order_relaxed);
    }
    again_at_.store(end + pause, std::memory_order_relaxed);
    last_.store(end, std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t kVainLooks = 100;  // in a row: a peer that runs answers sooner
  // A yield that changes nothing takes about 1 us. The limit is a guess: where two context switches
  // take less, the others get the processor every 50 us only; where an interrupt comes in between,
  // one yield too many follows. The kernel counts switches (getrusage of the thread), but asking
  // before and after costs as much as the yield itself.
  static constexpr Duration kOthersRan = Duration::microseconds(3);
  static constexpr Duration kPause = Duration::microseconds(50);
  // A peer that waits, too, gives the processor back in less time than this; a program that
  // computes keeps it until the next clock interrupt or the one after (1 to 4 ms each). An answer
  // takes less than kPatience: a round trip with 1 MiB takes 250 us. Waiting for that time costs
  // others a tenth of the processor at most.
  static constexpr Duration kLong = Duration::milliseconds(1);
  static constexpr Duration kPatience = Duration::microseconds(300);
  // A look takes up to 3 us. In less time than this no other thread has made progress.
  static constexpr Duration kApart = Duration::microseconds(8);

  Instant first_;            // of them
  uint32_t vain_looks_ = 0;  // one right after the other; at most kVainLooks
  std::atomic<Instant> last_{Instant::zero()};
  std::atomic<Instant> again_at_{Instant::zero()};
  std::atomic<Duration> learned_{Duration::zero()};  // zero or kPatience, by the last yield
};

}  // namespace uet::prov
