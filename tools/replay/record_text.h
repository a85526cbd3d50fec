// Records of a recording as people read them: packets in uet_pcap's language.
#pragma once

#include "sim/recording/replay.h"

#include <string>
#include <vector>

namespace uet::tools {

// What a record says, a line for each of its parts; in the first what it is. A record that says
// that is broken.
std::vector<std::string> lines_of(recording::Kind kind, std::span<const std::byte> body);

// The lines of two records that differ, of their parts only those that differ first.
struct SideBySide {
  std::vector<std::string> recorded;
  std::vector<std::string> now;
};
SideBySide side_by_side(const recording::Difference& difference);

}  // namespace uet::tools
