// Host features that apply to packets of UDP sockets and not to frames of packet sockets: packet
// filters, IPsec, shaping. If there are none, frames may replace UDP by default. A snapshot; later
// changes are not seen. Not detected: BPF programs of control groups that are not mounted where
// this process runs, and those that hook into netfilter; a reverse path filter. [decision 8]
#pragma once

#include "io/host/interfaces.h"

#include <cstdint>
#include <string>

namespace uet::io {

// Why frames over this interface would differ from UDP sockets, as a phrase for a log line such as
// "nftables has rules"; empty if they would not. A feature that this process may not query
// (CAP_NET_ADMIN) counts as present. own_rings: packet sockets that listen for the caller already.
std::string why_frames_differ(const Interface& interface, uint32_t own_rings = 0);

}  // namespace uet::io
