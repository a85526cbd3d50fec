// Cost of an ACK over a gap at the source, by the number of outstanding packets.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace uet::perf {

struct GapFigure {
  uint32_t outstanding;  // packets
  double ns;             // for each ACK: parsed, and worked off
};

// Calls `prepare`, then times `work`, which returns how many units it did; several times, and
// returns the fewest nanoseconds a unit.
using Timer = std::function<double(const std::function<void()>& prepare,
                                   const std::function<uint64_t()>& work)>;

// One PDC sends 64, 512 and 2,040 packets. The second one is lost, and an ACK comes for each of the
// others. [PDS-142, PDS-143]
std::vector<GapFigure> gap_figures(const Timer& timer);

}  // namespace uet::perf
