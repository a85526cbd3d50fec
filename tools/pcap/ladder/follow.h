// What the packets of a PDC are to each other: see ladder.h for what is found.
#pragma once

#include "tools/pcap/ladder/ladder.h"

namespace uet::tools::ladder {

// Fills in everything of the rungs but who sent them when, and the messages and counts.
void follow(Ladder& ladder, wire::Trailer trailer);

}  // namespace uet::tools::ladder
