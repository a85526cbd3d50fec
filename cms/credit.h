// The arithmetic of receiver credit: cumulative counters of 24 bits, in units of 256 octets.
// [cms.md 5.1]
#pragma once

#include <cstdint>

namespace uet::cms {

inline constexpr uint32_t kCreditUnitBytes = 256;          // [CMS-117]
inline constexpr uint32_t kCreditCounterMask = 0xFF'FFFF;  // of 24 bits

// How far the cumulative counter `a` of 24 bits is ahead of `b`; negative: it is behind. [CMS-118]
constexpr int32_t credit_ahead(uint32_t a, uint32_t b) {
  return static_cast<int32_t>((a - b) << 8) >> 8;
}

// Result of a grant.
enum class CreditNews : uint8_t {
  taken,       // or said nothing new
  clamped,     // it would have made more than a window
  old,         // overtaken, or made up: it takes nothing back
  impossible,  // TFC: more than was sent
  unused,      // no credit is in use here
};

}  // namespace uet::cms
