// What a route to a peer is found to carry, while packets are under way to it. [PDS-250, LF-141]
#pragma once

#include "base/serial.h"

#include <cstdint>

namespace uet::pds {

struct PathLimit {
  uint32_t datagram_bytes = 0;  // headers above UDP, and payload
  uint32_t payload = 0;         // octets; the largest legal size that fits [SES-032]
};

// The peer's payload size before and after; both are equal if only packets sent before are too
// long.
struct PathChange {
  PeerId peer;
  uint32_t before = 0;  // octets
  uint32_t after = 0;
};

}  // namespace uet::pds
