// A fabric alone: packets are put in by hand and collected where they arrive.
#pragma once

#include "sim/fabric/fabric.h"
#include "sim/fabric/generate.h"

#include <cstdint>
#include <string>
#include <vector>

namespace uet::sim::fabric {

constexpr uint32_t kFull = 4160;  // octets of a data packet on the wire: 332.8 ns at 100 Gbit/s
constexpr uint32_t kSmall = 64;   // of a control packet: 5.12 ns

struct Bench {
  struct Arrived {
    uint32_t mark;
    uint32_t host;
    Picoseconds at;
    Packet packet;
  };

  explicit Bench(const std::string& request, const SwitchConfig& config = {}, uint64_t seed = 1)
      : topology(make_topology(request)),
        routes(topology, seed),
        fabric(topology, config, routes, events, 1000, seed, {this, &Bench::on_arrival}) {}

  // `mark` identifies a packet, and is its flow.
  void data(uint32_t from, uint32_t to, uint32_t mark = 0, Picoseconds at = 0, uint16_t ev = 0) {
    put(from, to, mark, at, ev, kFull);
  }
  void control(uint32_t from, uint32_t to, uint32_t mark = 0, Picoseconds at = 0) {
    put(from, to, mark, at, 0, kSmall);
  }
  // Everything before `end` happens.
  void run(Picoseconds end = kNever) {
    for (Event e{}; events.next() < end && events.take(e);) {
      fabric.on_event(kind_of(e.who), index_of(e.who), e.at);
    }
  }
  uint32_t count(uint8_t dscp) const {
    uint32_t out = 0;
    for (const Arrived& a : arrived) out += a.packet.dscp == dscp ? 1 : 0;
    return out;
  }
  // Each sent packet has arrived, was dropped, or is in flight.
  bool nothing_is_lost() const {
    const Tally& t = fabric.tally();
    return t.sent == t.delivered + t.dropped() + fabric.in_flight() &&
           t.delivered == arrived.size();
  }

  Topology topology;
  Routes routes;
  EventQueue events;
  Fabric fabric;
  std::vector<Arrived> arrived;
  bool is_trimmable = true;
  Ecn ecn = Ecn::ect0;

 private:
  static void on_arrival(void* owner, uint32_t packet, uint32_t host, Picoseconds now) {
    Bench& b = *static_cast<Bench*>(owner);
    const Packet& p = b.fabric.packets()[packet];
    b.arrived.push_back({p.flow, host, now, p});
    b.fabric.release(packet);
  }
  void put(uint32_t from, uint32_t to, uint32_t mark, Picoseconds at, uint16_t ev, uint32_t bytes) {
    run(at);
    const uint32_t index = fabric.packets().take();
    Packet& p = fabric.packets()[index];
    p.wire_bytes = bytes;
    p.is_high = bytes == kSmall;
    p.payload_bytes = p.is_high ? 0 : 4096;
    p.header_bytes = 56;
    p.from = from;
    p.to = to;
    p.flow = mark;
    p.ev = Entropy(ev);
    p.dscp = p.is_high ? 46 : 8;
    p.ecn = p.is_high ? Ecn::not_ect : ecn;
    p.is_trimmable = !p.is_high && is_trimmable;
    fabric.send(index, at);
  }
};

}  // namespace uet::sim::fabric
