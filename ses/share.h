// How much of a common pool one peer may hold.
#pragma once

#include <cstdint>

namespace uet::ses {

// Whether a peer that holds `held` of something may take `wanted` of the `free` rest: as long as it
// leaves as much as it has. One peer alone gets half, and whoever comes next finds room, whatever
// the others do. [architecture 8, Room before acceptance]
constexpr bool is_within_share(uint64_t held, uint64_t wanted, uint64_t free) {
  return held + wanted <= free;
}

}  // namespace uet::ses
