// Like SRD: packets of one flow are sprayed over paths that have been quick, and one window for all
// of them falls when most of them are slow. After Shalev et al., "A Cloud-Optimized Transport
// Protocol for Elastic and Scalable HPC", IEEE Micro 40(6), 2020, which gives no constants.
#pragma once

#include "sim/transports/control.h"

namespace uet::sim::transports {

struct SrdConstants {
  double paths = 64;
  double target = 2;           // of a round trip, in base round trips
  double first_window = 1.5;   // in bandwidth-delay products
  double increase = 1;         // packets in a round trip
  double most_decrease = 0.5;  // in a round trip
  double slack = 2;            // of overtaking, in base round trips
};

class Srd final : public Control {
 public:
  Srd(const SrdConstants& constants, const Network& network);
  double window_packets() const override { return window_; }
  double rate_mbps() const override { return mbps_; }
  void on_ack(const AckNews& news, Picoseconds now) override;
  void on_loss(Picoseconds now) override;
  void on_timeout(Picoseconds now) override { on_loss(now); }

 private:
  void judge(Picoseconds now);

  const SrdConstants constants_;
  const double mbps_;
  const double target_;  // ps
  const double most_;    // packets
  double window_;
  uint32_t acks_ = 0, slow_ = 0;  // of this round
  double rtts_ = 0;               // their sum, ps
  Picoseconds round_ends_ = 0;
  Picoseconds fell_at_ = -kMicrosecond * 1'000'000;
};

}  // namespace uet::sim::transports
