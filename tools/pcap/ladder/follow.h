// Relations between the packets of a PDC: see ladder.h.
#pragma once

#include "tools/pcap/ladder/ladder.h"

namespace uet::tools::ladder {

// Fills in everything in the rungs except ends and times, and the messages and counts.
void follow(Ladder& ladder, wire::Trailer trailer);

}  // namespace uet::tools::ladder
