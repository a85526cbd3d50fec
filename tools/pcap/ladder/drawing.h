// The contents and the form of a drawing: a static picture, an interactive page, or JSON.
#pragma once

#include "tools/pcap/ladder/ladder.h"

#include <string>

namespace uet::tools::ladder {

enum class TimeAxis : uint8_t {
  compact,       // a line for each event, however long the pause
  proportional,  // to scale
};

struct Drawing {
  const Ladder* ladder = nullptr;
  std::string capture;  // the source of the packets, for the title
  std::vector<CapturePoint> points;
  uint32_t first = 0, count = 0;  // the rungs drawn
  TimeAxis axis = TimeAxis::compact;
  wire::Trailer trailer = wire::Trailer::none;

  uint32_t end() const { return first + count; }
  bool is_cut() const { return count != ladder->rungs.size(); }
};

// "packets 201 to 400 of 20000 are drawn"; empty when all are.
std::string cut_text(const Drawing& drawing);
// Facts about lost packets, and about the clocks of the two ends.
std::string ends_text(const Ladder& ladder);
// "PDC 0: 10.0.0.1 (PDCID 9) and 10.0.0.2 (PDCID 77), RUD".
std::string title_text(const Ladder& ladder);
// 12.345 ms, with the unit that fits.
std::string duration_text(int64_t ns);

std::string svg_of(const Drawing& drawing);
std::string page_of(const Drawing& drawing);
std::string json_of(const Drawing& drawing);

}  // namespace uet::tools::ladder
