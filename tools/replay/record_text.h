// Records of a recording as people read them: packets in uet_pcap's language.
#pragma once

#include "sim/recording/replay.h"

#include <string>
#include <vector>

namespace uet::tools {

// The contents of a record, a line for each of its parts; the first names its kind. A broken record
// is shown as broken.
std::vector<std::string> lines_of(recording::Kind kind, std::span<const std::byte> body);

// The differing lines of two records; only the first differing parts.
struct SideBySide {
  std::vector<std::string> recorded;
  std::vector<std::string> now;
};
SideBySide side_by_side(const recording::Difference& difference);

}  // namespace uet::tools
