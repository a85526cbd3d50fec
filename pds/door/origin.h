// Who sent a datagram, and where its answer goes: the rules of ports, apart from any PDC.
// [decision 3, WIRE-121]
#pragma once

#include "pds/pdc/peer_table.h"

#include "base/packet.h"

namespace uet::pds {

// Whether the datagram comes from that process: its source port is one of its block, or anything
// when it owns 4793, whose sender may use the port as entropy. [decision 3]
bool is_from(const RxDatagram& d, const Peer& peer);

// What a packet says about the port that its sender listens on.
enum class PortHint : uint8_t {
  standard,  // 4793
  marked,    // the private mark: its own port
  unstated,  // the header has no place for the mark
};

// Where answers go when nothing but the datagram says so. Without a place for the mark, a port of
// the blocks that our own processes take first, or of a block that a peer is known at, is taken for
// its own. A foreign peer whose entropy falls there misses an answer, and so does an unknown uet
// process that has another block; their operations end by time-out. [decision 3, WIRE-121]
FabricAddress reply_address(const RxDatagram& d, PortHint hint, bool strict_ports,
                            PeerTable& peers);

}  // namespace uet::pds
