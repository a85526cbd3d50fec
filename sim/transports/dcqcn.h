// DCQCN: a rate that falls when marked packets arrive and rises by timer and octets. Zhu et al.,
// "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3 and figure 7.
#pragma once

#include "sim/transports/control.h"

namespace uet::sim::transports {

struct DcqcnConstants {
  double gain = 1.0 / 256;       // g, of alpha
  double cnp_us = 50;            // N: at most one CNP in this time
  double alpha_us = 55;          // K: time without a CNP after which alpha falls
  double increase_us = 55;       // T: the timer of increases
  double increase_bytes = 10e6;  // B: the octets that do the same
  double recovery = 5;           // F: increases toward the rate before, then beyond
  double additive_mbps = 40;     // R_AI
  double hyper_mbps = 400;       // R_HAI
  double least_mbps = 10;        // the rate falls no lower
};

class Dcqcn final : public Control {
 public:
  Dcqcn(const DcqcnConstants& constants, const Network& network);
  double window_packets() const override { return 1e9; }
  double rate_mbps() const override { return rate_; }
  void on_sent(uint32_t bytes, Picoseconds now) override;
  void on_cnp(Picoseconds now) override;
  Picoseconds next_deadline() const override { return alpha_at_ < rise_at_ ? alpha_at_ : rise_at_; }
  void on_deadline(Picoseconds now) override;

 private:
  void rise();

  const DcqcnConstants constants_;
  const double link_;  // Mbit/s, as are the next two
  double rate_;        // R_C
  double target_;      // R_T
  double alpha_ = 1;
  double timers_ = 0;    // T: increases by time since the rate fell
  double counters_ = 0;  // BC: by octets
  double sent_bytes_ = 0;
  Picoseconds alpha_at_ = kNever;  // timers; they rest while the rate is that of the link
  Picoseconds rise_at_ = kNever;
};

}  // namespace uet::sim::transports
