// Tunables of congestion management. Octets are nominal octets [CMS-015].
#pragma once

#include <cstdint>

namespace uet::cms {

enum class Algorithm : uint8_t {
  aimd,   // AimdWindow: the stop-gap until NSCC
  fixed,  // FixedWindow: a constant window, for tests and lossless fabrics
};

struct Config {
  Algorithm algorithm = Algorithm::aimd;
  uint32_t mtu_bytes = 4096 + 104 + 40;     // largest nominal packet of the path
  uint32_t initial_window_packets = 32;     // 128 KiB at 4 KiB: fits a stock 208 KiB socket buffer
  uint32_t window_bytes_min = 0;            // 0: eight packets, enough to see a gap by SACK
  uint32_t window_bytes_max = 2048 * 1024;  // a message of 1 MiB and its headers without a pause
  uint32_t entropy_values = 16;             // EVs sprayed over; 1: single path
};

}  // namespace uet::cms
