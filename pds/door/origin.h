// Source of a datagram and destination of its answer: the port rules, without any PDC. [decision 3,
// WIRE-121]
#pragma once

#include "pds/pdc/peer_table.h"

#include "base/packet.h"

namespace uet::pds {

// Whether the datagram comes from that process: its source port lies in the block of the process. A
// process that owns 4793 may use any source port as entropy. [decision 3]
bool is_from(const RxDatagram& d, const Peer& peer);

// What a packet says about the port on which its sender listens.
enum class PortHint : uint8_t {
  standard,  // 4793
  marked,    // the private mark: its own port
  unstated,  // the header has no place for the mark
};

// The address for answers to a packet without a known peer. Without the mark, a source port counts
// as the sender's own port if it lies in one of the first blocks that our processes take, or in a
// block known for a peer. A foreign peer whose entropy falls there misses an answer, and so does an
// unknown uet process with another block; their operations end by time-out. [decision 3, WIRE-121]
FabricAddress reply_address(const RxDatagram& d, PortHint hint, bool strict_ports,
                            PeerTable& peers);

}  // namespace uet::pds
