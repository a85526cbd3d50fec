// uet_pcap's language: one line a packet, in the words of the specification. docs/howto/uet_pcap.md
// is its manual. From a line to the octets of a frame; files are pcap_file's.
#pragma once

#include "tools/pcap/pcap_file.h"

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
  std::string point;              // name of the interface; empty: the first
};

// The result of a line: a frame, an interface of the capture, nothing (an empty line or a comment),
// or an error.
struct Line {
  std::optional<Frame> frame;
  std::optional<CapturePoint> point;
  std::string problem;
};

// The packets and interfaces of a text, taken line by line.
struct Text {
  std::vector<Captured> packets;
  std::vector<CapturePoint> points;

  // Returns the error, or nothing.
  std::string take(Line line);
};

// Lines that say so are sealed, if there is a sealer; without one they are in clear.
Line parse_line(std::string_view text, Sealer* sealer = nullptr);

// The part of a line after its first bar: headers and octets, as they follow the UDP header. They
// are added to `out`. Returns the error, or nothing.
std::string take_content(std::string_view text, std::vector<std::byte>& out);

}  // namespace uet::tools
