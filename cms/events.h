// What PDS tells congestion management. Octets are nominal: transport size + 40. [CMS-015]
#pragma once

#include "base/serial.h"
#include "base/time.h"

#include <cstdint>

namespace uet::cms {

inline constexpr uint32_t kNominalExtraBytes = 40;  // [CMS-015]

// Nominal size of a packet whose UDP payload has that many octets (8: the UDP header).
constexpr uint32_t nominal_bytes(uint32_t udp_payload_bytes) {
  return udp_payload_bytes + 8 + kNominalExtraBytes;
}

enum class LossKind : uint8_t {
  trimmed,          // NACK TRIMMED: congestion on that EV
  trimmed_lasthop,  // incast: not the EV's fault
  inferred,         // SACK gap or NACK that names a loss
  timeout,          // RTO
  pressure,         // the receiver had no room [PDS 10.2, 0x07]
};

// What is learnt about one EV. [CMS-023]
enum class PathFeedback : uint8_t {
  good,
  ecn,
  trimmed,
  timeout
};

struct Sent {
  uint32_t bytes = 0;
  Entropy ev;
  bool resend = false;
  Instant at;
};

struct Acked {
  uint32_t bytes = 0;  // newly acknowledged (or SACKed), of `packets` packets
  uint32_t packets = 0;
  Duration rtt;            // of the packet that caused the ACK
  bool rtt_valid = false;  // [PDS-141]
  bool ecn = false;        // M flag
  Entropy ev;
  Instant at;
};

struct Lost {
  uint32_t bytes = 0;
  uint32_t packets = 0;
  LossKind kind = LossKind::inferred;
  Entropy ev;
  Instant at;
};

}  // namespace uet::cms
