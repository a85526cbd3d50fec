// The arithmetic of receiver credit: cumulative counters of 24 bits, in units of 256 octets.
// [cms.md 5.1]
#pragma once

#include "base/time.h"

#include <concepts>
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

// How long data waits for credit, and when to ask the destination again. [CMS-129]
//
//   deadline()          when to ask; never() while nothing waits. May be in the past.
//   on_requested(now)   a request leaves, or would if a PDC could carry one. Each one doubles the
//                       time until the next, up to a limit.
//   on_nothing_waits()  nothing waits for credit any more.
//   is_unanswered()     that limit is reached, and no credit came.
//   on_unanswered()     no PDC can ask, or no request is answered: one packet may go without
//                       credit.
template <class S>
concept AsksForCredit = requires(S source, const S& seen, Instant now) {
  { seen.deadline() } -> std::same_as<Instant>;
  { source.on_requested(now) } -> std::same_as<void>;
  { source.on_nothing_waits() } -> std::same_as<void>;
  { seen.is_unanswered() } -> std::same_as<bool>;
  { source.on_unanswered() } -> std::same_as<void>;
};

}  // namespace uet::cms
