// Go-back-N on one path, as in RoCEv2: the receiver takes packets in order only, asks once for the
// first missing one, and the sender resends that one and everything behind it.
#pragma once

#include "sim/transports/control.h"
#include "sim/transports/pace.h"
#include "sim/transports/transport.h"

#include <memory>

namespace uet::sim::transports {

class GoBackNSender final : public Sender {
 public:
  // References outlive this. Without an answer for `timeout` it sends again from the first packet
  // that was not acknowledged.
  GoBackNSender(const FlowSetup& flow, const Network& network, std::unique_ptr<Control> control,
                Picoseconds timeout, Counts& counts);

  bool next(Picoseconds now, Segment& out) override;
  void on_answer(const Segment& answer, const Telemetry* telemetry, Picoseconds now) override;
  Picoseconds next_deadline() const override;
  void on_deadline(Picoseconds now) override;
  bool is_done() const override { return acked_ == count_; }
  SenderState state() const override;

 private:
  bool has_window() const {
    return next_ == acked_ || next_ - acked_ + 1 <= control_->window_packets();
  }
  void go_back(Picoseconds now);

  const FlowSetup flow_;
  const Network& network_;
  const std::unique_ptr<Control> control_;
  const Picoseconds timeout_;
  Counts& counts_;
  const uint32_t count_;
  const uint16_t path_;
  uint32_t acked_ = 0;    // all packets below have arrived
  uint32_t next_ = 0;     // to send
  uint32_t highest_ = 0;  // was not sent yet
  Picoseconds rtt_ = 0;
  Picoseconds silent_at_ = kNever;  // the time-out
  Pace pace_;
};

class InOrderReceiver final : public Receiver {
 public:
  // Sends at most one CNP each `cnp_interval`, at a marked packet; 0: none.
  InOrderReceiver(uint32_t flow, Picoseconds cnp_interval)
      : flow_(flow), cnp_interval_(cnp_interval) {}

  void on_packet(const Segment& packet, Picoseconds now, std::vector<Segment>& out) override;

 private:
  const uint32_t flow_;
  const Picoseconds cnp_interval_;
  uint32_t expected_ = 0;
  bool has_asked_ = false;  // for expected_
  Picoseconds cnp_at_ = 0;  // not before
  bool is_marked_ = false;  // a packet since the last CNP
};

}  // namespace uet::sim::transports
