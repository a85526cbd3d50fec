// HPCC: switches write into packets how long their queues are and how fast they send; the window
// follows from that. Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019,
// algorithm 1.
#pragma once

#include "sim/transports/control.h"

namespace uet::sim::transports {

struct HpccConstants {
  double utilisation = 0.95;  // eta, that is aimed at
  double stages = 5;          // maxStage: increases without a look at the queues
  double flows = 100;         // N, the number of flows that sizes the increase: W_AI = (1 - eta) W
                              // / N
  double increase_bytes = 0;  // W_AI; 0: by the rule above
  double rtt_us = 0;          // T; 0: that of the longest path
};

class Hpcc final : public Control {
 public:
  Hpcc(const HpccConstants& constants, const Network& network);
  double window_packets() const override;
  double rate_mbps() const override;
  void on_ack(const AckNews& news, Picoseconds now) override;
  void on_timeout(Picoseconds now) override;

 private:
  void measure(const Telemetry& now);
  double computed(bool is_new_round);

  const HpccConstants constants_;
  const double base_us_;
  const double mbps_;
  const double full_bytes_;
  const double most_bytes_;  // the window at first: rate x T
  const double increase_bytes_;
  double window_bytes_;
  double reference_bytes_;  // W_c, the window of the round before
  double used_;             // U, of the busiest link, smoothed over T
  double stage_ = 0;
  uint32_t round_ends_ = 0;  // an ACK of this packet or a later one begins a new round
  Telemetry last_;
};

}  // namespace uet::sim::transports
