// Joins what two captures saw of one PDC: each packet where it was sent and where it arrived.
#pragma once

#include "tools/pcap/ladder/ladder.h"

namespace uet::tools::ladder {

// Fills the rungs with one for each packet, by the time at which it was sent. Where the PDC was
// captured at one point only, one for each member.
void join_ends(std::span<const Captured> packets, Ladder& ladder);

}  // namespace uet::tools::ladder
