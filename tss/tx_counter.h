// The packet counter of one key. It uses only granted numbers, and a grant may be made durable, or
// shared out between workers, before it is given: so no number is used twice, not even after a
// crash. All octets zero means: nothing is granted. [TSS-039, TSS-042, TSS-043]
#pragma once

#include "base/assert.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace uet::tss {

constexpr uint64_t kCounterMax = (uint64_t{1} << 48) - 1;    // invoke_fatal_threshold [TSS-105]
constexpr uint64_t kCounterWarning = uint64_t{1} << 47;      // [TSS-041]
constexpr uint64_t kServerFirstCounter = uint64_t{1} << 47;  // [TSS-044]
constexpr uint64_t kCountersAhead = uint64_t{1} << 24;       // a durable grant [TSS-043]
constexpr uint64_t kCountersPerWorker = 1024;                // [TSS-042]

class TxCounter {
 public:
  // A new key. Counters from `first` below `limit` exist; none is granted yet.
  void start(uint64_t first, uint64_t limit) {
    UET_ASSERT(first <= limit && limit <= kCounterMax);
    next_ = granted_ = first;
    limit_ = limit;
  }

  // Grants the numbers from `from` to below `until`, to this object alone; the rest of earlier
  // grants is dropped unless it ends where this one begins. Counters never go back. [TSS-039]
  void grant(uint64_t from, uint64_t until) {
    if (from != granted_) next_ = std::max(next_, from);
    granted_ = std::max(next_, std::min(until, limit_));
  }

  // The next counter; none when no more are granted: then nothing may be sealed. [TSS-041]
  std::optional<uint64_t> take() {
    if (next_ >= granted_) return std::nullopt;
    return next_++;
  }

  uint64_t next() const { return next_; }
  uint64_t granted() const { return granted_; }  // the first that is not
  uint64_t left() const { return granted_ - next_; }
  bool can_grow() const { return granted_ < limit_; }
  // No grant can help: the key is used up.
  bool is_used_up() const { return next_ >= limit_; }

 private:
  uint64_t next_ = 0;
  uint64_t granted_ = 0;
  uint64_t limit_ = 0;
};

}  // namespace uet::tss
