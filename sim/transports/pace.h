// When the next packet of a flow may leave, by rate and window.
#pragma once

#include "sim/transports/control.h"

#include <algorithm>

namespace uet::sim::transports {

// The time between the starts of two packets is the length of the first divided by the rate of the
// control. With a window below one packet it is at least rtt / window.
class Pace {
 public:
  Picoseconds next_at() const { return next_at_; }
  void on_sent(const Network& network, const Control& control, uint32_t wire_bytes, Picoseconds rtt,
               Picoseconds now) {
    next_at_ = now + network.time_of(wire_bytes, control.rate_mbps());
    const double window = control.window_packets();
    if (window >= 1) return;
    next_at_ =
        std::max(next_at_, now + static_cast<Picoseconds>(static_cast<double>(rtt) / window));
  }

 private:
  Picoseconds next_at_ = 0;
};

}  // namespace uet::sim::transports
