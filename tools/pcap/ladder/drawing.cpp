// Texts that all drawings share.
#include "tools/pcap/ladder/drawing.h"

#include <cstdio>
#include <cstdlib>

namespace uet::tools::ladder {

std::string cut_text(const Drawing& drawing) {
  if (!drawing.is_cut()) return {};
  return "Packets " + std::to_string(drawing.first + 1) + " to " + std::to_string(drawing.end()) +
         " of " + std::to_string(drawing.ladder->rungs.size()) + " are drawn.";
}

std::string ends_text(const Ladder& ladder) {
  if (!ladder.both_ends) {
    return "Captured at one point: which packets were lost is not known.";
  }
  if (ladder.clock_ns == 0) return "Captured at both ends.";
  return "Captured at both ends. Times of the target were moved by " +
         duration_text(-ladder.clock_ns) + " to fit those of the initiator.";
}

std::string title_text(const Ladder& ladder) {
  const Conversation& c = ladder.conversation;
  std::string out = "PDC " + std::to_string(ladder.number) + ": ";
  for (unsigned end = 0; end < 2; ++end) {
    out += (end == 0 ? "" : " and ") + text_of(c.address[end]);
    if (c.pdcid[end] != Pdcid{}) out += " (PDCID " + std::to_string(c.pdcid[end].value()) + ")";
  }
  return out + (c.rod ? ", ROD" : ", RUD");
}

std::string duration_text(int64_t ns) {
  constexpr int64_t kUs = 1000, kMs = 1000 * kUs, kSecond = 1000 * kMs;
  const int64_t size = std::abs(ns);
  char text[40];
  if (size < kUs) {
    std::snprintf(text, sizeof text, "%d ns", static_cast<int>(ns));
  } else if (size < kMs) {
    std::snprintf(text, sizeof text, "%.3f us", static_cast<double>(ns) / kUs);
  } else if (size < kSecond) {
    std::snprintf(text, sizeof text, "%.3f ms", static_cast<double>(ns) / kMs);
  } else {
    std::snprintf(text, sizeof text, "%.3f s", static_cast<double>(ns) / kSecond);
  }
  return text;
}

}  // namespace uet::tools::ladder
