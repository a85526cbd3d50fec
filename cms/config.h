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
  uint32_t initial_window_packets = 0;      // 0: see first_window_bytes()
  uint32_t window_bytes_min = 0;            // 0: eight packets, enough to see a gap by SACK
  uint32_t window_bytes_max = 2048 * 1024;  // a message of 1 MiB and its headers without a pause
  uint32_t entropy_values = 16;             // EVs sprayed over; 1: single path

  // 128 KiB of payload. A stock receive buffer holds 416 KiB as the kernel counts, which takes up
  // to 2.3 KiB for a packet of 1 KiB and no greater share for longer ones.
  uint64_t first_window_bytes() const {
    const uint32_t kib = mtu_bytes < 2048 ? 1 : mtu_bytes / 1024;  // of payload in a packet
    const uint32_t packets = kib < 128 ? 128 / kib : 1;
    return uint64_t{initial_window_packets != 0 ? initial_window_packets : packets} * mtu_bytes;
  }
};

}  // namespace uet::cms
