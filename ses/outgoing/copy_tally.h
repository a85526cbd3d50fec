// How much memory payloads take that were copied when they were posted.
#pragma once

#include "base/assert.h"

#include <cstdint>

namespace uet::ses {

// Payload copies, made at the post, of operations that have not ended.
struct CopyTally {
  uint32_t now = 0;
  uint64_t bytes = 0;
  uint64_t bytes_high = 0;  // maximum of them so far

  void add(uint64_t n) {
    ++now;
    bytes += n;
    bytes_high = bytes > bytes_high ? bytes : bytes_high;
  }
  void remove(uint64_t n) {
    UET_ASSERT(now != 0 && bytes >= n);
    --now;
    bytes -= n;
  }
};

}  // namespace uet::ses
