// How much payload packets carry on an interface when FI_UET_PAYLOAD_MTU does not say. One rule for
// the provider and for uet_ctl doctor.
#pragma once

#include "io/interfaces.h"

#include <cstdint>

namespace uet::prov {

// Octets: the largest common size that fits beside the headers. [LF-131]
inline uint32_t payload_mtu_for(const io::Interface& interface) {
  if (interface.is_loopback() || interface.mtu_bytes >= 8400) return 8192;
  return interface.mtu_bytes >= 4300 ? 4096 : 1024;
}

// What an interface must carry for the smallest of them: 1024 octets, at most 160 of UET headers,
// and IPv6 and UDP.
inline constexpr uint32_t kMtuMin = 1024 + 160 + 48;

}  // namespace uet::prov
