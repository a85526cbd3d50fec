// What the host does to the packets of UDP sockets and not to frames of packet sockets: packet
// filters, IPsec, shaping. Where it does nothing of the kind, frames may stand in for UDP unasked.
// A snapshot; nothing here watches for changes. [architecture 6]
#pragma once

#include "io/interfaces.h"

#include <string>

namespace uet::io {

// Why frames over this interface would not be the same as UDP sockets, in a phrase for a log line
// such as "nftables has rules"; empty when they would. What may not be looked at (CAP_NET_ADMIN)
// counts as being there. Not seen: programs on the interface's egress that are no part of a
// queueing discipline (tcx), and those of control groups.
std::string why_frames_differ(const Interface& interface);

}  // namespace uet::io
