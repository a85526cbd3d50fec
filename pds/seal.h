// What security adds to a packet on the wire.
#pragma once

#include "cms/events.h"

#include <cstdint>

namespace uet::pds {

// The security header and the check value behind the packet. [TSS, CMS-015]
inline constexpr uint32_t kSealBytes = 16 + 16;

constexpr uint32_t seal_bytes(uint32_t sdi) { return sdi != 0 ? kSealBytes : 0; }

// Nominal octets of a packet of that many octets without its seal, in that secure domain.
constexpr uint32_t nominal_bytes(uint32_t packet_bytes, uint32_t sdi) {
  return cms::nominal_bytes(packet_bytes + seal_bytes(sdi));
}

}  // namespace uet::pds
