// Like SRD: packets of one flow are sprayed over paths that have been quick; one rate and one limit
// of octets in flight for all of them. After Shalev et al., "A Cloud-Optimized Transport Protocol
// for Elastic and Scalable HPC", IEEE Micro 40(6), 2020, which gives no constants.
#pragma once

#include "sim/transports/control.h"

namespace uet::sim::transports {

struct SrdConstants {
  double paths = 64;
  double first_packets = 2;    // in the first base round trip; then twice as many in each
  double slow = 0.5;           // an ACK is slow from here above the least, in base round trips
  double lower = 0.85;         // ACKs at less than this share of the rate of sending: congestion
  double inflight = 1.5;       // limit: what the rate carries in this number of base round trips
  double increase = 1.0 / 16;  // packets in a base round trip, each base round trip
  double probe = 1.0 / 32;     // of the rate, added besides in each round
  double most_decrease = 0.5;  // in a round, after the first congestion
  double round_acks = 4;       // at least, in a round
  double rate_acks = 8;        // at least, for their rate to count
  double slack = 2;            // of overtaking, in base round trips
};

class Srd final : public Control {
 public:
  Srd(const SrdConstants& constants, const Network& network);
  double window_packets() const override;
  double rate_mbps() const override { return rate_; }
  void on_sent(uint32_t bytes, Picoseconds now) override;
  void on_ack(const AckNews& news, Picoseconds now) override;
  void on_loss(Picoseconds now) override;
  void on_timeout(Picoseconds now) override { on_loss(now); }

 private:
  // State of a round, which ends with the ACK of a packet that left in it. ps.
  struct Round {
    Picoseconds began = 0;
    Picoseconds first_sent = kNever, last_sent = 0;  // of the packets that were acknowledged
    Picoseconds first_ack = 0, last_ack = 0;
    double sent = 0, acks = 0, slow = 0;
    double rtts = 0;  // their sum
  };
  void judge(Picoseconds now);
  void rise(double sent_mbps, Picoseconds lasted);

  const SrdConstants constants_;
  const double link_;        // Mbit/s
  const double base_rtt_;    // ps
  const double packet_;      // bits
  const double least_;       // Mbit/s
  double rate_;              // Mbit/s
  double least_rtt_ = 1e18;  // ps
  bool is_starting_ = true;
  Round round_;
  Picoseconds fell_at_ = -kMicrosecond * 1'000'000;
};

}  // namespace uet::sim::transports
