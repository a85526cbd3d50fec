// Numbers that the specification leaves to the operator or fixes once for all packets.
#pragma once

#include <cstdint>

namespace uet::wire {

// Default DSCP of each traffic class; the operator may assign others. [WIRE-016, CMS-172]
enum class Dscp : uint8_t {
  no_trim = 0,
  trimmable = 8,
  trimmable_rtx = 10,
  trimmed = 16,
  trimmed_lasthop = 18,
  control = 46,
};

inline constexpr uint16_t kUdpPort = 4793;          // [WIRE-006]
inline constexpr uint8_t kNativeIpProtocol = 253;   // our default, no number assigned [WIRE-008]
inline constexpr uint32_t kPayloadBytesMax = 8192;  // payload of one packet [WIRE-098, WIRE-100]

}  // namespace uet::wire
