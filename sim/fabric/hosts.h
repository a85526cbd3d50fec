// The hosts of a fabric: a FabricEndpoint each, the very object of the provider, and a card that
// asks it for a packet when one can leave. A flow is an RMA write, of which only lengths travel.
#pragma once

#include "sim/fabric/events.h"
#include "sim/fabric/fabric.h"
#include "sim/fabric/topology.h"

#include "sim/traffic/traffic.h"

#include "fep/fabric_endpoint.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace uet::sim::fabric {

// What became of a flow.
struct FlowRecord {
  Picoseconds start = kNever;
  Picoseconds finish = kNever;  // the source has the last ACK
  uint32_t sent = 0;            // packets with payload
  uint32_t resent = 0;          // of them, more than its length needs
  uint32_t trimmed = 0;
  bool failed = false;
};

class Hosts {
 public:
  // All references outlive this. Headers of so many octets stand around each payload on the wire.
  Hosts(const Topology& topology, const Traffic& traffic, const fep::Config& config,
        uint32_t header_bytes, EventQueue& events, uint64_t seed);
  void attach(Fabric& fabric) { fabric_ = &fabric; }

  // A flow begins: its source posts it. Its hosts come up if they were not. Throws TopologyError
  // when the system has no memory for them.
  void start(uint32_t flow, Picoseconds now);
  void arrived(const Packet& packet, Picoseconds now);
  // An event of kind pull or timer.
  void on_event(Kind kind, uint32_t host, Picoseconds now);
  // The port of a host may send again.
  void resume(uint32_t host, Picoseconds now) { pull(hosts_[host], now); }

  // The flows that have ended since the last call. Valid until something else happens.
  std::span<const uint32_t> take_done();
  std::vector<FlowRecord>& records() { return records_; }

  uint64_t digest() const { return digest_; }  // of all packets, in their order
  uint32_t up() const { return up_; }          // hosts
  // Calls fn(name, value) for the counters of all stacks together.
  std::vector<std::pair<std::string, uint64_t>> counters() const;

 private:
  struct Host {
    Hosts* all = nullptr;
    uint32_t index = 0;
    std::unique_ptr<fep::FabricEndpoint> fep;
    ses::EndpointId endpoint;
    uint64_t key = 0;
    Picoseconds pull_at = kNever;
    Picoseconds timer_at = kNever;
    std::vector<uint32_t> active;   // flows that it sends
    std::vector<uint32_t> waiting;  // flows for which it has no room yet
  };
  // Memory without content: where every payload comes from and goes to.
  class Landing {
   public:
    explicit Landing(uint64_t bytes);
    ~Landing();
    Landing(const Landing&) = delete;
    Landing& operator=(const Landing&) = delete;
    IoSlice slice(uint64_t bytes) const { return {memory_, bytes}; }

   private:
    std::byte* memory_;
    uint64_t bytes_;
  };

  Host& up(uint32_t host, Picoseconds now);
  bool post(Host& host, uint32_t flow, Picoseconds now);
  void pull(Host& host, Picoseconds now);
  void leave(Host& host, const TxPacket& packet, Picoseconds now);
  uint32_t flow_of(Host& host, uint32_t to);
  void set_timer(Host& host);
  static void on_completion(void* owner, const ses::Completion& completion);
  void follow(Host& host, Picoseconds now);

  const Traffic& traffic_;
  const fep::Config config_;
  const uint32_t header_bytes_;
  EventQueue& events_;
  Fabric* fabric_ = nullptr;
  uint64_t seed_;
  Landing landing_;
  std::vector<Host> hosts_;
  std::vector<FlowRecord> records_;
  std::vector<uint32_t> done_, taken_;
  uint64_t digest_ = 0;
  uint32_t up_ = 0;
  std::vector<std::byte> octets_;  // a datagram that arrives
};

}  // namespace uet::sim::fabric
