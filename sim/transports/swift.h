// Swift: a window by the delay of each ACK against a target. Kumar et al., "Swift: Delay is Simple
// and Effective for Congestion Control in the Datacenter", SIGCOMM 2020, algorithm 1.
#pragma once

#include "sim/transports/control.h"

namespace uet::sim::transports {

struct SwiftConstants {
  double base_us = 20;         // target of a flow of few hops and a large window
  double hop_us = 1;           // added for each cable of the path
  double range_us = 100;       // added at most for small windows
  double least_window = 0.1;   // packets at which the whole range is added,
  double most_window = 100;    // and from which on nothing is
  double increase = 1;         // ai: packets in a round trip
  double decrease = 0.8;       // beta
  double most_decrease = 0.5;  // max_mdf, in a round trip
  double first_window = 15;    // packets
  double floor_window = 0.01;
  double timeouts = 5;  // from this many in a row the window is the smallest one
};

class Swift final : public Control {
 public:
  Swift(const SwiftConstants& constants, const Network& network, uint32_t links);
  double window_packets() const override { return window_; }
  double rate_mbps() const override { return mbps_; }
  void on_ack(const AckNews& news, Picoseconds now) override;
  void on_loss(Picoseconds now) override;
  void on_timeout(Picoseconds now) override;

  Picoseconds target() const;

 private:
  void fall(double factor, Picoseconds now);

  const SwiftConstants constants_;
  const double mbps_;
  const double hops_us_;
  const double most_window_;
  double window_;
  double timeouts_ = 0;
  Picoseconds rtt_ = 0;  // smoothed
  Picoseconds fell_at_ = -kMicrosecond * 1'000'000;
};

}  // namespace uet::sim::transports
