// What the next packets will need.
#include "sim/fabric/fabric_prefetch.h"

#include "base/prefetch.h"

namespace uet::sim::fabric {

void Fabric::prefetch() { FabricPrefetch(events_, packets_, ports_, routes_, receiver_).next(); }

// The packet that arrives `ahead` events later; null: there is none.
Packet* FabricPrefetch::expected(uint32_t ahead) {
  const uint32_t event = events_.upcoming(ahead);
  return kind_of(event) == Kind::arrival ? &packets_[index_of(event)] : nullptr;
}

// Each step reads what the step before has prefetched.
void FabricPrefetch::next() {
  constexpr uint32_t kStep = Fabric::kPrefetchedEvents / 5;
  if (const Packet* const p = expected(5 * kStep)) prefetch(p, kLineBytes);
  if (const Packet* const p = expected(4 * kStep)) prefetch(&ports_[p->port], sizeof(Port));
  if (Packet* const p = expected(3 * kStep)) prefetch_way(*p);
  if (Packet* const p = expected(2 * kStep)) prefetch_next_port(*p);
  if (const Packet* const p = expected(kStep); p != nullptr && p->likely_port != kNoPort) {
    const Port& port = ports_[p->likely_port];
    prefetch_waiting(port);
    prefetch_packet(p->is_high ? port.high.tail : port.low.tail);
  }
}

void FabricPrefetch::prefetch_packet(uint32_t packet) {
  if (packet != kNoPacket) prefetch(&packets_[packet], kLineBytes);
}

// The packet that the port will send next.
void FabricPrefetch::prefetch_waiting(const Port& port) {
  prefetch_packet(port.high.empty() ? port.low.head : port.high.head);
}

void FabricPrefetch::prefetch_way(Packet& packet) {
  const Port& in = ports_[packet.port];
  prefetch_waiting(in);
  packet.likely_port = kNoPort;
  if (in.to_host) {
    receiver_.expect(receiver_.owner, in.to);
  } else {
    routes_.prefetch(in.to, packet.to);
  }
}

void FabricPrefetch::prefetch_next_port(Packet& packet) {
  const Port& in = ports_[packet.port];
  if (in.to_host) return;
  const auto ports = routes_.next_ports(in.to, packet.to);
  if (ports.empty()) return;
  const auto count = static_cast<uint32_t>(ports.size());
  packet.likely_port = ports[count == 1 ? 0 : routes_.choice(in.to, packet.path_hash, count)];
  prefetch(&ports_[packet.likely_port], sizeof(Port));
}

}  // namespace uet::sim::fabric
