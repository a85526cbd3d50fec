// Payload sizes that packets may have, and which of them fits a path.
// Reference: SES-032, WIRE-098, WIRE-099, LF-131.
#pragma once

#include <cstdint>

namespace uet::wire {

inline constexpr uint16_t kPayloadMtuMin = 1024;
inline constexpr uint16_t kPayloadMtuMax = 8192;

constexpr bool is_payload_mtu(uint32_t octets) {
  return octets == 1024 || octets == 2048 || octets == 4096 || octets == 8192;
}

// The largest legal size that is not above `octets`, which is at least the smallest.
constexpr uint16_t payload_within(uint32_t octets) {
  uint16_t payload = kPayloadMtuMax;
  while (payload > octets && payload > kPayloadMtuMin) payload /= 2;
  return payload;
}

// Octets beside the payload: IPv6, UDP, and UET headers of any kind with security.
inline constexpr uint32_t kHeadersMax = 48 + 160;
// The same without security and optional parts: RUD and standard headers with one extension.
inline constexpr uint32_t kHeadersMin = 48 + 12 + 44 + 24;

// The largest payload that leaves room for all headers on a path which carries IP packets of
// `ip_bytes` octets. 0: the path is too small even for the smallest payload.
constexpr uint16_t payload_for_path(uint32_t ip_bytes) {
  if (ip_bytes < kPayloadMtuMin + kHeadersMin) return 0;
  return payload_within(ip_bytes > kHeadersMax ? ip_bytes - kHeadersMax : 0);
}

}  // namespace uet::wire
