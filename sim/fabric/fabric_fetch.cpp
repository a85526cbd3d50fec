// What the next packets will need.
#include "sim/fabric/fabric_fetch.h"

#include "base/prefetch.h"

namespace uet::sim::fabric {

// The packet that arrives so many events later; null: there is none.
Packet* FabricFetch::expected(uint32_t ahead) {
  const uint32_t event = fabric_.events_.upcoming(ahead);
  return kind_of(event) == Kind::arrival ? &fabric_.packets_[index_of(event)] : nullptr;
}

// Each step reads what the step before has asked for.
void FabricFetch::next() {
  constexpr uint32_t kStep = kEvents / 5;
  if (const Packet* const p = expected(5 * kStep)) prefetch(p, kLineBytes);
  if (const Packet* const p = expected(4 * kStep)) prefetch(&fabric_.ports_[p->port], sizeof(Port));
  if (Packet* const p = expected(3 * kStep)) fetch_way(*p);
  if (Packet* const p = expected(2 * kStep)) fetch_next_port(*p);
  if (const Packet* const p = expected(kStep); p != nullptr && p->likely_port != kNoPort) {
    const Port& port = fabric_.ports_[p->likely_port];
    fetch_waiting(port);
    fetch_packet(p->is_high ? port.high.tail : port.low.tail);
  }
}

void FabricFetch::fetch_packet(uint32_t packet) {
  if (packet != kNoPacket) prefetch(&fabric_.packets_[packet], kLineBytes);
}

// The packet that the port will send next.
void FabricFetch::fetch_waiting(const Port& port) {
  fetch_packet(port.high.empty() ? port.low.head : port.high.head);
}

void FabricFetch::fetch_way(Packet& packet) {
  const Port& in = fabric_.ports_[packet.port];
  fetch_waiting(in);
  packet.likely_port = kNoPort;
  if (in.to_host) {
    fabric_.receiver_.expect(fabric_.receiver_.owner, in.to);
  } else {
    fabric_.routes_.fetch(in.to, packet.to);
  }
}

void FabricFetch::fetch_next_port(Packet& packet) {
  const Port& in = fabric_.ports_[packet.port];
  if (in.to_host) return;
  const auto ports = fabric_.routes_.next_ports(in.to, packet.to);
  if (ports.empty()) return;
  const auto count = static_cast<uint32_t>(ports.size());
  packet.likely_port =
      ports[count == 1 ? 0 : fabric_.routes_.choice(in.to, packet.path_hash, count)];
  prefetch(&fabric_.ports_[packet.likely_port], sizeof(Port));
}

}  // namespace uet::sim::fabric
