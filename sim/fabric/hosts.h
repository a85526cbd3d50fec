// The hosts of a fabric: a FabricEndpoint each, the very object of the provider, and a card that
// asks it for a packet when one can leave. A flow is an RMA write, of which only lengths travel.
//
// What a host sends reaches no other node within the latency of its cable. So all that happens to a
// host within such a window is done at once, in its order, and each host's memory is fetched once
// for a handful of packets: with a thousand hosts that is what a run costs.
#pragma once

#include "sim/fabric/events.h"
#include "sim/fabric/fabric.h"
#include "sim/fabric/mapped_memory.h"
#include "sim/fabric/topology.h"

#include "sim/traffic/traffic.h"

#include "fep/fabric_endpoint.h"

#include "pds/snapshot.h"

#include "base/prefetch.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace uet::sim::fabric {

// What became of a flow.
struct FlowRecord {
  Picoseconds start = kNever;
  Picoseconds finish = kNever;  // the source has the last ACK
  uint32_t sent = 0;            // packets with payload
  uint32_t resent = 0;          // of them, sent again
  uint32_t trimmed = 0;
  bool failed = false;
};

// What is due at a host by its own clock.
struct HostState {
  struct Arrival {
    Picoseconds at;
    uint32_t packet;
  };
  struct Start {
    Picoseconds at;
    uint32_t flow;
  };

  struct End {
    uint32_t flow;
    bool is_ok;
  };

  uint32_t index = 0;
  bool is_due = false;  // it has something to do in this window
  ses::EndpointId endpoint;
  std::unique_ptr<fep::FabricEndpoint> fep;
  std::vector<Arrival> arrivals;  // in their order; those before next_arrival are dealt with
  size_t next_arrival = 0;
  std::vector<Start> starts;      // of flows, the latest first
  Picoseconds pull_at = kNever;   // its card is free again
  Picoseconds wake_at = kNever;   // there is an event for it
  uint64_t key = 0;               // of the memory that others write to
  uint64_t digest = 0;            // of what it has sent
  std::vector<uint32_t> active;   // flows that it sends
  std::vector<uint32_t> waiting;  // flows for which its endpoint has no room yet
  std::vector<End> ends;          // of flows, just now
};

class Hosts {
 public:
  // All references outlive this. Headers of so many octets stand around each payload on the wire.
  // Throws TopologyError when the system has no memory.
  Hosts(const Topology& topology, const Traffic& traffic, const fep::Config& config,
        uint32_t header_bytes, EventQueue& events, uint64_t seed);
  void attach(Fabric& fabric) { fabric_ = &fabric; }

  // Things come to a host; nothing happens before run().
  void start(uint32_t flow, Picoseconds at);
  void arrive(uint32_t packet, uint32_t host, Picoseconds at) {
    note_due(host, at);
    hosts_[host].arrivals.push_back({at, packet});
  }
  // Its time has come, or its port may send again.
  void wake(uint32_t host, Picoseconds at);

  // When the first of the hosts has something to do since run(); kNever: none.
  Picoseconds due_since() const { return due_since_; }
  // Hosts do what they have to before `end`. Calls done(flow, at) for each flow that ends; what it
  // starts on the same host counts at once.
  template <class Done>
  void run(Picoseconds end, Done&& done) {
    for (size_t i = 0; i < due_.size(); ++i) {
      if (i + 1 < due_.size()) prefetch(hosts_[due_[i + 1]].fep.get(), sizeof(fep::FabricEndpoint));
      run_host(hosts_[due_[i]], end, done);
    }
    due_.clear();
    due_since_ = kNever;
  }

  std::vector<FlowRecord>& records() { return records_; }
  uint64_t digest() const;  // of all packets: of each host in their order
  uint32_t up() const { return up_; }
  uint32_t size() const { return static_cast<uint32_t>(hosts_.size()); }
  // Copies the PDCs of a host; none when it does not take part.
  void look(uint32_t host, Picoseconds now, std::vector<pds::PdcSnapshot>& out) const;
  // The counters of all stacks together.
  std::vector<std::pair<std::string, uint64_t>> counters() const;

 private:
  void note_due(uint32_t host, Picoseconds at) {
    due_since_ = std::min(due_since_, at);
    if (std::exchange(hosts_[host].is_due, true)) return;
    due_.push_back(host);
  }
  template <class Done>
  void run_host(HostState& host, Picoseconds end, Done&& done) {
    for (Picoseconds at = next_of(host); at < end; at = next_of(host)) {
      step(host, at);
      for (const HostState::End& end_of : host.ends) {
        records_[end_of.flow].finish = at;
        records_[end_of.flow].failed = !end_of.is_ok;
        done(end_of.flow, at);
      }
      host.ends.clear();
    }
    rest(host);
  }
  Picoseconds next_of(const HostState& host) const;
  void step(HostState& host, Picoseconds now);
  void rest(HostState& host);
  HostState& up(uint32_t host);
  void open(HostState& host);
  void begin(HostState& host, uint32_t flow, Picoseconds now);
  bool post(HostState& host, uint32_t flow, Picoseconds now);
  void receive(HostState& host, uint32_t packet, Picoseconds now);
  void pull(HostState& host, Picoseconds now);
  void leave(HostState& host, const TxPacket& packet, Picoseconds now);
  uint32_t flow_of(const HostState& host, uint32_t to) const;

  const Traffic& traffic_;
  const fep::Config config_;
  const uint32_t header_bytes_;
  const uint64_t seed_;
  EventQueue& events_;
  Fabric* fabric_ = nullptr;
  MappedMemory landing_;  // without content: where every payload comes from and goes to
  std::vector<HostState> hosts_;
  std::vector<uint32_t> due_;
  Picoseconds due_since_ = kNever;
  std::vector<FlowRecord> records_;
  uint32_t up_ = 0;
  std::vector<std::byte> octets_;  // a datagram that arrives
};

}  // namespace uet::sim::fabric
