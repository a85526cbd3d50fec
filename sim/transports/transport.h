// One flow of a comparison transport: the end that sends and the end that receives. A host asks the
// sender for a packet when its card is free, hands arrivals to both, and wakes them at their
// deadlines. Two calls of one instant may come in any order.
#pragma once

#include "sim/transports/segment.h"

#include <cstdint>
#include <vector>

namespace uet::sim::transports {

// Parameters of all flows of a run. Octets are those of the wire unless stated otherwise.
struct Network {
  uint64_t mbps = 0;           // of a host
  Picoseconds base_rtt = 0;    // of the longest path: a full packet there, an ACK back
  uint32_t bdp_bytes = 0;      // their product, in whole packets
  uint32_t payload_bytes = 0;  // of a full packet
  uint32_t header_bytes = 0;   // around each payload
  uint32_t queue_bytes = 0;    // that a data queue of a switch holds
  uint32_t paths = 1;          // entropy values that a flow may spray over
  uint64_t seed = 1;

  Picoseconds time_of(uint64_t bytes, double rate_mbps) const {
    return static_cast<Picoseconds>(static_cast<double>(bytes) * 8e6 / rate_mbps);
  }
};

// Parameters of one flow.
struct FlowSetup {
  uint32_t flow = 0;
  uint64_t bytes = 0;  // above 0
  uint32_t links = 0;  // cables from one host to the other
};

// Events of senders, for the counters of a run.
struct Counts {
  uint64_t data_sent = 0, data_resent = 0;
  uint64_t acks = 0, nacks = 0, cnps = 0, pulls = 0;  // that have come
  uint64_t timeouts = 0, go_backs = 0, path_changes = 0;
};

// For samples.
struct SenderState {
  uint64_t window_bytes = 0;  // or the octets of a rate in a base RTT
  uint64_t inflight_bytes = 0;
  Picoseconds rtt = 0;  // 0: not known yet
};

class Sender {
 public:
  virtual ~Sender() = default;
  // The next packet to leave. False: none may at `now`; an answer or next_deadline() changes that.
  virtual bool next(Picoseconds now, Segment& out) = 0;
  // `telemetry` is that of the answered packet; null if switches write none.
  virtual void on_answer(const Segment& answer, const Telemetry* telemetry, Picoseconds now) = 0;
  virtual Picoseconds next_deadline() const = 0;
  // Call at next_deadline(), not earlier.
  virtual void on_deadline(Picoseconds now) = 0;
  // Every packet has arrived, and the sender knows.
  virtual bool is_done() const = 0;
  virtual SenderState state() const = 0;
};

class Receiver {
 public:
  virtual ~Receiver() = default;
  // Data, perhaps trimmed, or a request. Appends immediate answers.
  virtual void on_packet(const Segment& packet, Picoseconds now, std::vector<Segment>& out) = 0;
};

// The number of packets of a flow, and the payload of one of them.
inline uint32_t packets_of(const FlowSetup& flow, const Network& network) {
  return static_cast<uint32_t>((flow.bytes + network.payload_bytes - 1) / network.payload_bytes);
}
inline uint32_t payload_of(const FlowSetup& flow, const Network& network, uint32_t number) {
  const uint64_t before = uint64_t{number} * network.payload_bytes;
  const uint64_t left = flow.bytes - before;
  return left < network.payload_bytes ? static_cast<uint32_t>(left) : network.payload_bytes;
}

}  // namespace uet::sim::transports
