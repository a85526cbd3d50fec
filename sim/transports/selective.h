// Selective resends: the receiver acknowledges each packet, in any order, and the sender resends
// packets that later ones have overtaken, or that were not acknowledged for too long.
#pragma once

#include "sim/transports/control.h"
#include "sim/transports/flight.h"
#include "sim/transports/pace.h"
#include "sim/transports/paths.h"
#include "sim/transports/transport.h"

#include <array>
#include <memory>
#include <vector>

namespace uet::sim::transports {

// When a selective sender counts a packet as lost.
struct LossRules {
  Picoseconds timeout = 0;  // without an ACK of the packet
  Picoseconds slack = 0;  // of three arrived packets that left later than a lost one; 0 on one path
};

class SelectiveSender final : public Sender {
 public:
  // References outlive this. `paths` above 1: packets are sprayed over that number of paths.
  SelectiveSender(const FlowSetup& flow, const Network& network, std::unique_ptr<Control> control,
                  const LossRules& rules, uint32_t paths, Counts& counts);

  bool next(Picoseconds now, Segment& out) override;
  void on_answer(const Segment& answer, const Telemetry* telemetry, Picoseconds now) override;
  Picoseconds next_deadline() const override;
  void on_deadline(Picoseconds now) override;
  bool is_done() const override { return flight_.is_done(); }
  SenderState state() const override;

 private:
  bool has_window() const {
    return flight_.inflight() == 0 || flight_.inflight() + 1 <= control_->window_packets();
  }
  void hear(Picoseconds sent_at);
  void lose_oldest();

  const FlowSetup flow_;
  const Network& network_;
  const std::unique_ptr<Control> control_;
  const LossRules rules_;
  Counts& counts_;
  Paths paths_;
  Flight flight_;
  std::array<Picoseconds, 3> heard_{};  // the latest times of sending that ACKs were for
  Picoseconds rtt_ = 0;
  Picoseconds next_timeout_at_ = 0;  // that counts
  Pace pace_;
};

class SelectiveReceiver final : public Receiver {
 public:
  SelectiveReceiver(const FlowSetup& flow, const Network& network)
      : flow_(flow.flow), has_(packets_of(flow, network)) {}
  void on_packet(const Segment& packet, Picoseconds now, std::vector<Segment>& out) override;

 private:
  const uint32_t flow_;
  std::vector<bool> has_;
  uint32_t below_ = 0;
};

}  // namespace uet::sim::transports
