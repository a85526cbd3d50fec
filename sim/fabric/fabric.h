// The network between two hosts: output queues of two classes, marks, trims, losses, cables. One
// event for each packet and cable: a port updates its queue only when the queue is read, and then
// with the times at which it would have sent.
#pragma once

#include "sim/fabric/events.h"
#include "sim/fabric/packet.h"
#include "sim/fabric/routes.h"
#include "sim/fabric/switch_buffers.h"
#include "sim/fabric/topology.h"

#include "sim/transports/segment.h"

#include "base/rng.h"

#include <cstdint>
#include <span>
#include <vector>

namespace uet::sim::fabric {

// How switches treat packets. The classes are `high` (control packets, ACKs, trimmed packets),
// which is always served first, and `low` (data). Sizes in octets of the wire. [CMS-180 .. CMS-189]
struct SwitchConfig {
  uint32_t low_bytes = 178'880;   // data beyond is cut, or dropped
  uint32_t high_bytes = 357'760;  // the rest beyond is dropped
  bool ecn = true;
  bool ecn_last_hop = true;     // also at ports to hosts [CMS-184]
  uint32_t ecn_low = 37'440;    // data in the queue from which on some is marked, when it leaves,
  uint32_t ecn_high = 145'600;  // and from which on all is
  uint32_t ecn_one_in = 1;      // just below ecn_high one packet in this number is marked
  bool trimming = true;
  uint32_t trim_bytes = 64;   // size of a trimmed packet
  uint64_t buffer_bytes = 0;  // of a switch, shared by its ports; 0: each queue has its own
  bool adaptive = false;      // data takes the shortest queue of those on shortest paths
  // Priority flow control of data: no queue is too long, the port before waits instead.
  bool pfc = false;
  uint32_t pfc_off = 120'000;  // octets that came in through one port from which on it waits
  uint32_t pfc_on = 80'000;    // and down to which
  // Not of switches: packets leave a host by the port of their entropy value, modulo the number of
  // its ports; if that is down, or not on a shortest path, by another one. [CMS-156]
  bool deals_to_planes = false;
  bool telemetry = false;  // they write their queues into data packets as these leave
};

// One direction of a cable and the queue in front of it.
struct alignas(64) Port {
  Picoseconds free_at = 0;  // when the packet in service has left
  Picoseconds latency = 0;  // of the cable and the switch behind it
  Queue low, high;
  uint32_t low_bytes = 0;  // waiting or in service
  uint32_t high_bytes = 0;
  uint32_t serving = kNoPacket;
  uint32_t serving_bytes = 0;  // its size for the queue, since its record is far away by then
  bool serving_high = false;
  bool serving_markable = false;
  uint32_t from = 0;  // nodes
  // --- below: less often used
  uint32_t to = 0;
  uint32_t octet_time = 0;  // in 1/256 ps
  bool is_up = true;
  uint8_t epoch = 0;       // counts its failures: packets then on the cable do not arrive
  bool is_paused = false;  // by PFC
  bool pauses = false;     // the sender of this cable was paused
  bool from_host = false;
  bool to_host = false;
  uint32_t entered = 0;  // octets of data in the switch that came through this cable; with PFC
  uint64_t sent_bytes = 0;
  uint32_t low_max = 0;
  uint32_t high_max = 0;
  uint32_t sent = 0, marked = 0, trimmed = 0, dropped = 0;  // packets
};

// The fates of packets. Each sent packet is delivered, dropped or in flight.
struct Tally {
  uint64_t sent = 0;
  uint64_t delivered = 0;
  uint64_t trimmed = 0;  // and went on
  uint64_t marked = 0;
  uint64_t queue_dropped = 0;  // no room
  uint64_t link_dropped = 0;   // on a link that failed, or in front of it
  uint64_t route_dropped = 0;  // there was no route
  uint64_t hops = 0;           // cables that packets have left
  uint64_t pauses = 0;         // of PFC
  uint64_t dropped() const { return queue_dropped + link_dropped + route_dropped; }
};

class Fabric {
 public:
  // Where packets go: called for each one that has arrived, which is to be released.
  struct Receiver {
    void* owner = nullptr;
    void (*arrived)(void* owner, uint32_t packet, uint32_t host, Picoseconds now) = nullptr;
    // A packet arrives there soon.
    void (*expect)(void* owner, uint32_t host) = nullptr;
  };

  // All references outlive this. Packets belong to flows below `flows`.
  Fabric(const Topology& topology, const SwitchConfig& config, Routes& routes, EventQueue& events,
         uint32_t flows, uint64_t seed, Receiver receiver);

  PacketPool& packets() { return packets_; }

  // A packet leaves its host, which has filled it in from wire_bytes on. It waits in the port of
  // the host that it takes.
  void send(uint32_t packet, Picoseconds now);
  // The host has taken the packet.
  void release(uint32_t packet) {
    ++tally_.delivered;
    packets_.give(packet);
  }
  // When the host may send more: a port is free, and none has a packet that waits. kNever: PFC has
  // stopped it. free_planes: gets a bit for each port that can serve a packet now, and one is
  // enough; where all are down, all, and packets are lost. [CMS-156]
  Picoseconds host_free_at(uint32_t host, Picoseconds now, uint32_t* free_planes = nullptr);

  // Fields that switches have written into a data packet; empty when it leaves its host.
  transports::Telemetry& telemetry(uint32_t packet);

  // An event of kind arrival, of a packet, or pause, of a port.
  void on_event(Kind kind, uint32_t index, Picoseconds now);
  // The link runs at that share of its rate from now on; 0: it has failed, and packets on it are
  // lost. Switches send nothing more to it; they find new routes when reroute() is called.
  void set_link(uint32_t link, double share, Picoseconds now);
  void reroute();

  // Call it before each event, if kPrefetchedEvents later events are known: prefetches the memory
  // that they will need.
  static constexpr uint32_t kPrefetchedEvents = 30;
  void prefetch();

  std::span<const Port> ports() const { return ports_; }
  const Tally& tally() const { return tally_; }
  // Packets of a flow that were cut, by Packet::flow.
  const std::vector<uint32_t>& trimmed() const { return trimmed_; }
  uint32_t in_flight() const { return packets_.in_use(); }

 private:
  void serve(uint32_t port);
  void finish_service(Port& port);
  bool start_service(uint32_t index);
  void arrive(uint32_t packet);
  void forward(uint32_t packet, uint32_t node);
  uint32_t choose(uint32_t node, const Packet& packet);
  void enqueue(uint32_t packet, uint32_t port);
  bool has_room(const Port& port, const Packet& packet);
  void enqueue_low(uint32_t packet, Port& port);
  void enqueue_high(uint32_t packet, Port& port);
  void trim(uint32_t packet, Port& port);
  bool marks(const Port& port);
  void drop(uint32_t packet, uint64_t& counter);
  void enter(const Packet& packet, const Port& port);
  void leave(const Packet& packet, const Port& port);
  void flush(Port& port);

  const Topology& topology_;
  const SwitchConfig config_;
  const bool notes_passing_;  // something depends on what enters and leaves switches
  Routes& routes_;
  EventQueue& events_;
  Rng rng_;
  Receiver receiver_;
  Picoseconds now_ = 0;  // of the call
  PacketPool packets_;
  MappedVector<Port> ports_;
  SwitchBuffers buffers_;
  std::vector<uint32_t> trimmed_;                 // by flow
  std::vector<transports::Telemetry> telemetry_;  // by packet
  Tally tally_;
};

}  // namespace uet::sim::fabric
