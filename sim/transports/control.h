// The allowed speed of a sender: a window, a rate, or both. One object for each flow.
#pragma once

#include "sim/transports/transport.h"

#include <cstdint>

namespace uet::sim::transports {

// One ACK, for congestion control.
struct AckNews {
  Picoseconds rtt = 0;
  uint32_t packets = 0;  // that it acknowledges for the first time
  uint32_t number = 0;   // of the packet that caused it
  uint32_t next = 0;     // the first packet that was not sent yet
  bool is_marked = false;
  const Telemetry* telemetry = nullptr;
};

class Control {
 public:
  virtual ~Control() = default;
  // Packets that may be in flight; below 1: one may, and the next one comes after rtt / window.
  virtual double window_packets() const = 0;
  // On the wire; packets of one flow leave no faster.
  virtual double rate_mbps() const = 0;
  virtual void on_sent(uint32_t, Picoseconds) {}
  virtual void on_ack(const AckNews&, Picoseconds) {}
  virtual void on_cnp(Picoseconds) {}
  // Later packets have arrived, or the time-out has come.
  virtual void on_loss(Picoseconds) {}
  virtual void on_timeout(Picoseconds) {}
  // Timers of a rate machine.
  virtual Picoseconds next_deadline() const { return kNever; }
  virtual void on_deadline(Picoseconds) {}
};

// RoCE without congestion control: at the rate of the link, with no window.
class LineRate final : public Control {
 public:
  explicit LineRate(const Network& network) : mbps_(static_cast<double>(network.mbps)) {}
  double window_packets() const override { return 1e9; }
  double rate_mbps() const override { return mbps_; }

 private:
  const double mbps_;
};

}  // namespace uet::sim::transports
