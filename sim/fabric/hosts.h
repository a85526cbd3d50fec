// The hosts of a fabric that run the stack: a FabricEndpoint each, as the provider uses it, and a
// card that asks it for a packet when one can leave. A flow is an RMA write; only its lengths
// travel.
#pragma once

#include "sim/fabric/fabric.h"
#include "sim/fabric/host_loop.h"
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

struct StackHost : HostDue {
  struct Active {
    uint32_t flow;
    uint32_t to;
    uint64_t left;  // octets of the flow behind this write
  };
  struct Waiting {
    uint32_t flow;
    uint64_t left;  // octets that no write has carried
  };

  ses::EndpointId endpoint;
  std::unique_ptr<fep::FabricEndpoint> fep;
  uint64_t key = 0;              // of the memory that other hosts write to
  std::vector<Active> active;    // flows that it sends
  std::vector<Waiting> waiting;  // for which its endpoint has no room yet
  bool has_rest = false;         // the first of them has just sent a write, and has more
};

class Hosts : public HostLoop<Hosts, StackHost> {
 public:
  // All references outlive this. Each payload has the given number of octets of headers on the
  // wire; a flow of more than `write_bytes` is several writes, one after the other. Throws
  // TopologyError when the system has no memory.
  Hosts(const Topology& topology, const Traffic& traffic, const fep::Config& config,
        uint32_t header_bytes, uint64_t write_bytes, EventQueue& events, uint64_t seed);
  void attach(Fabric& fabric) { fabric_ = &fabric; }

  uint32_t up() const { return up_; }
  // State of a host's senders; none when the host does not take part.
  void look(uint32_t host, Picoseconds now, std::vector<SenderSample>& out) const;
  // The counters of all stacks together.
  std::vector<std::pair<std::string, uint64_t>> counters() const;

 private:
  friend class HostLoop<Hosts, StackHost>;

  void prefetch(const StackHost& host, int turns) const;
  static bool is_up(const StackHost& host) { return host.fep != nullptr; }
  static Picoseconds own_deadline(const StackHost& host);
  StackHost& up(uint32_t host);
  void open(StackHost& host);
  void begin(StackHost& host, uint32_t flow, Picoseconds now);
  bool post(StackHost& host, const StackHost::Waiting& next, Picoseconds now);
  void receive(StackHost& host, uint32_t packet, Picoseconds now);
  void work(StackHost& host, Picoseconds now);
  void pull(StackHost& host, Picoseconds now);
  void leave(StackHost& host, const TxPacket& packet, Picoseconds now);
  static uint32_t flow_of(const StackHost& host, uint32_t to);

  const Traffic& traffic_;
  const fep::Config config_;
  const uint32_t header_bytes_;
  const uint64_t write_bytes_;
  const uint64_t seed_;
  Fabric* fabric_ = nullptr;
  MappedMemory landing_;  // without content: where every payload comes from and goes to
  uint32_t up_ = 0;
  std::vector<std::byte> octets_;               // a datagram that arrives
  mutable std::vector<pds::PdcSnapshot> pdcs_;  // of a host, for look()
};

}  // namespace uet::sim::fabric
