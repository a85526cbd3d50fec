// The rules of source ports.
#include "pds/door/origin.h"

#include <array>
#include <bit>

namespace uet::pds {

namespace {
// Ports that our own later processes take first, in blocks of 16. [decision 3]
constexpr uint16_t kBlockPortFirst = 16384;
constexpr uint16_t kBlockPortLast = 20479;
constexpr uint16_t kBlockMask = 0xFFF0;

// Asked for every packet: two words, not sixteen octets.
bool is_same_ip(const FabricAddress& a, const FabricAddress& b) {
  using Words = std::array<uint64_t, 2>;
  const auto one = std::bit_cast<Words>(a.ip), other = std::bit_cast<Words>(b.ip);
  return one[0] == other[0] && one[1] == other[1];
}
}  // namespace

bool is_from(const RxDatagram& d, const Peer& peer) {
  const FabricAddress& a = peer.address;
  if (d.from.family != a.family || !is_same_ip(d.from, a) || d.from.scope_id != a.scope_id)
    return false;
  return a.port == kUetPort || (d.from.port & kBlockMask) == a.port;
}

FabricAddress reply_address(const RxDatagram& d, PortHint hint, bool strict_ports,
                            PeerTable& peers) {
  FabricAddress block = d.from;
  block.port = static_cast<uint16_t>(d.from.port & kBlockMask);
  FabricAddress standard = d.from;
  standard.port = kUetPort;
  if (strict_ports) return standard;
  if (hint != PortHint::unstated) return hint == PortHint::marked ? block : standard;
  if (d.from.port >= kBlockPortFirst && d.from.port <= kBlockPortLast) return block;
  PeerId known;
  return peers.find(block, known) != nullptr ? block : standard;
}

}  // namespace uet::pds
