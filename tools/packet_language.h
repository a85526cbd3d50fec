// uet_pcap's language: one line a packet, in the words of the specification. docs/howto/uet_pcap.md
// is its manual. From a line to the octets of a frame; files are pcap_file's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uet::tools {

class Sealer;

struct Frame {
  uint64_t time_ns = 0;           // from the start of the capture
  std::vector<std::byte> octets;  // from the Ethernet header on
};

// What a line gives: a frame, or nothing (an empty line or a comment), or what is wrong with it.
struct Line {
  std::optional<Frame> frame;
  std::string problem;
};

// Lines that say so are sealed, if there is a sealer; without one they are in clear.
Line parse_line(std::string_view text, Sealer* sealer = nullptr);

}  // namespace uet::tools
