// What the host does to the packets of UDP sockets and not to frames of packet sockets: packet
// filters, IPsec, shaping. Where it does nothing of the kind, frames may stand in for UDP unasked.
// A snapshot; nothing here watches for changes. Not seen: BPF programs of control groups that are
// not mounted where this process runs, and those that hook into netfilter; a reverse path filter.
// [decision 8]
#pragma once

#include "io/host/interfaces.h"

#include <cstdint>
#include <string>

namespace uet::io {

// Why frames over this interface would not be the same as UDP sockets, in a phrase for a log line
// such as "nftables has rules"; empty when they would. What may not be looked at (CAP_NET_ADMIN)
// counts as being there. own_rings: packet sockets that listen for the caller already.
std::string why_frames_differ(const Interface& interface, uint32_t own_rings = 0);

}  // namespace uet::io
