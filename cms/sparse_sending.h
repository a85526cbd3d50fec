// Below a window of one packet: a sender whose packets are trimmed although its window is the
// minimum waits between packets, so that hundreds of senders share a port whose queue has no room
// for a packet of each. [CMS-195]
#pragma once

#include "base/serial.h"
#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::cms {

class SparseSending {
 public:
  bool is_on() const { return share_ < kWhole || was_cut_; }
  // A packet was trimmed while the window was the minimum. Trims of one window count once: the next
  // one counts after another packet has left.
  void on_cut() {
    if (was_cut_) return;
    was_cut_ = true;
    set(std::max(share_ * 3u / 4, kLeast));
  }
  // Something arrived.
  void on_arrived(bool is_marked) { set(std::min(share_ + (is_marked ? kSlow : kQuick), kWhole)); }
  // A packet of this entropy value leaves: the time until the next one may. Entropy values are
  // random: they spread senders whose packets were trimmed at the same time.
  Duration on_sent(Duration round_trip, Entropy ev) {
    was_cut_ = false;
    if (share_ == kWhole) return Duration::zero();
    const int64_t mean = round_trip.ns() * kWhole / share_;
    return Duration::nanoseconds(mean * 3 / 4 + mean / 2 * ev.value() / 65536);
  }

 private:
  // Packets in a round trip, in 1/256.
  static constexpr uint32_t kWhole = 256;
  static constexpr uint32_t kLeast = 4;
  static constexpr uint32_t kSlow = 2;    // more for an ACK that reports a mark
  static constexpr uint32_t kQuick = 32;  // for another one

  void set(uint32_t share) { share_ = static_cast<uint16_t>(share & 0x1FF); }

  uint16_t share_ : 9 = kWhole;
  uint16_t was_cut_ : 1 = 0;  // since the last packet left
};

}  // namespace uet::cms
