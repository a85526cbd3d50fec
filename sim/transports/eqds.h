// Like EQDS: the receiver grants credit to one sender after the other, at its own rate, and asks
// first for what switches have cut. Olteanu et al., "An edge-queued datagram service for all
// datacenter traffic", NSDI 2022. A sender begins with a window that was not granted.
#pragma once

#include "sim/transports/flight.h"
#include "sim/transports/paths.h"
#include "sim/transports/transport.h"

#include <deque>
#include <vector>

namespace uet::sim::transports {

struct EqdsConstants {
  double window = 1.5;       // at first and at most, in bandwidth-delay products
  double pull_share = 0.99;  // of its link that a receiver grants
  double paths = 64;
  double ack_packets = 4;  // for each ACK, when nothing asks for an earlier one
};

class EqdsReceiver;

// The order in which a host grants credit: first flows with trimmed packets, then all others that
// have asked.
class PullQueue {
 public:
  // State of one receiver: its list.
  struct Place {
    bool is_urgent = false;
    bool is_waiting = false;
  };

  PullQueue(const EqdsConstants& constants, const Network& network);
  // The receiver has something to ask for. It outlives this.
  void enlist(EqdsReceiver& receiver, bool is_urgent);
  Picoseconds next_deadline() const;  // kNever: no flow waits
  // False: none is due.
  bool take(Picoseconds now, Segment& out);

 private:
  const Picoseconds interval_;
  Picoseconds next_at_ = 0;
  std::deque<EqdsReceiver*> urgent_, waiting_;
};

class EqdsSender final : public Sender {
 public:
  EqdsSender(const FlowSetup& flow, const Network& network, const EqdsConstants& constants,
             Picoseconds timeout, Counts& counts);

  bool next(Picoseconds now, Segment& out) override;
  void on_answer(const Segment& answer, const Telemetry* telemetry, Picoseconds now) override;
  Picoseconds next_deadline() const override;
  void on_deadline(Picoseconds now) override;
  bool is_done() const override { return flight_.is_done(); }
  SenderState state() const override;

 private:
  struct Credit {
    double octets = 0;       // granted and not used
    double speculative = 0;  // may be sent without a grant, until the first answer
    uint64_t granted = 0;    // in all
    uint64_t told = 0;       // the last demand
    bool is_asked = false;   // a request is to be sent
    double left() const { return octets + speculative; }
  };

  double full() const { return network_.payload_bytes + network_.header_bytes; }
  double backlog() const;
  uint64_t demand() const;
  void on_ack(const Segment& answer);

  const FlowSetup flow_;
  const Network& network_;
  const double window_bytes_;
  const Picoseconds timeout_;
  Counts& counts_;
  Spray spray_;
  Flight flight_;
  uint32_t below_ = 0;  // all of these were acknowledged
  Credit credit_;
  Picoseconds rtt_ = 0;
  Picoseconds silent_at_ = kNever;  // ask again when nothing is in flight and no credit comes
  Picoseconds patience_;            // until then; grows while there is silence
};

class EqdsReceiver final : public Receiver {
 public:
  // `queue` is that of the host, and must outlive this.
  EqdsReceiver(const FlowSetup& flow, const Network& network, const EqdsConstants& constants,
               PullQueue& queue);
  void on_packet(const Segment& packet, Picoseconds now, std::vector<Segment>& out) override;

 private:
  friend class PullQueue;

  bool has_all() const { return below_ == has_.size(); }
  bool wants_resend() const { return cut_bytes_ > 0; }
  bool wants_more() const { return asked_ > granted_; }
  Segment pull();
  void ask(uint64_t credit);
  Segment ack_of(const Segment& packet) const;
  bool accept(uint32_t number);

  const uint32_t flow_;
  const uint32_t full_bytes_;
  const uint32_t ack_packets_;
  const Picoseconds ack_interval_;  // longest time between ACKs, while packets come
  PullQueue& queue_;
  std::vector<bool> has_;
  uint32_t below_ = 0;
  uint32_t unacked_ = 0;  // packets since the last ACK
  Picoseconds acked_at_ = 0;
  uint64_t asked_ = 0, granted_ = 0;
  uint64_t cut_bytes_ = 0;  // that wait for a grant to be sent again
  PullQueue::Place place_;
  bool is_known_ = false;  // a packet has come
};

}  // namespace uet::sim::transports
