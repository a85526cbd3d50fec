// Capture files as tools need them: pcapng written, pcap and pcapng read, Ethernet or bare IP. Of
// pcapng only sections, interfaces and packets are known; other blocks are skipped.
#pragma once

#include "io/tap/pcapng.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace uet::tools {

using io::kLinkEthernet;
using io::kLinkRawIp;

struct Captured {
  uint64_t time_ns = 0;
  uint16_t link_type = kLinkEthernet;
  std::vector<std::byte> octets;
  uint32_t point = 0;   // where it was captured: the interface
  uint32_t number = 0;  // in its file, the first is 1
  uint32_t on_wire_octets = 0;
  std::vector<std::byte> opened{};  // the contents of a sealed packet, from the PDS header on
};

// An interface of a capture, in the words of the file.
struct CapturePoint {
  std::string name;
  std::string comment;
};

// The octets of a file, or of standard input for "-"; what keeps them from being read, else "".
std::string read_octets(const std::string& path, std::vector<std::byte>& out);

// Writes a file, or to standard output for "-"; what keeps it from being written, else "".
std::string write_octets(const std::string& path, const void* octets, size_t length);

// One section with these Ethernet interfaces, of which packets name one by `point`; times in
// nanoseconds. At most 4096 octets of a name or comment are written.
std::vector<std::byte> pcapng_of(const std::vector<Captured>& packets,
                                 const std::vector<CapturePoint>& points);

// The packets of a file. An unreadable part ends the list, and `problem` has the reason. `points`,
// if given, is added to; the points of the packets count on from its contents.
std::vector<Captured> packets_of(const std::vector<std::byte>& file, std::string& problem,
                                 std::vector<CapturePoint>* points = nullptr);

}  // namespace uet::tools
