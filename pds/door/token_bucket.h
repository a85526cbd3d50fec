// Rate limit with a burst of a tenth of the rate: bounds the answers and the work that one peer or
// all strangers can cause. [PDS-072, T-41]
#pragma once

#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::pds {

class TokenBucket {
 public:
  TokenBucket() = default;  // full, like any new one
  explicit TokenBucket(Instant now) : refilled_us_(tick_of(now)) {}

  // Takes a token; tokens come in at `rate` a second. False: no token. After more than an hour
  // without a call, fewer tokens may be credited.
  bool take(uint32_t rate, Instant now) {
    constexpr uint32_t kSecond = 1'000'000;
    const uint32_t elapsed_us = std::min(tick_of(now) - refilled_us_, kSecond);
    const auto earned = static_cast<uint32_t>(uint64_t{elapsed_us} * rate / kSecond);
    const uint32_t depth = std::max(rate / 10, 1u);
    tokens_ = std::min(depth, std::min(tokens_, depth) + earned);
    if (earned > 0) refilled_us_ = tick_of(now);
    if (tokens_ == 0) return false;
    --tokens_;
    return true;
  }

 private:
  static uint32_t tick_of(Instant t) { return static_cast<uint32_t>(t.ns() / 1000); }

  uint32_t tokens_ = UINT32_MAX;  // full, whatever that is
  uint32_t refilled_us_ = 0;      // wraps
};

}  // namespace uet::pds
