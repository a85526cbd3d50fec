// Times and rates as people write them: 50us, 1.5ms, 400 (Gbit/s).
#pragma once

#include "sim/fabric/topology.h"

#include <cstdint>
#include <string_view>

namespace uet::sim::fabric {

// "200ns", "50us", "1.5ms", "2s", "300ps"; not negative. Throws TopologyError.
Picoseconds parse_time(std::string_view text);
// Gbit/s, with or without a point; above 0. Returns Mbit/s. Throws TopologyError.
uint64_t parse_gbps(std::string_view text);

}  // namespace uet::sim::fabric
