// The pkt_ids of RUDI packets: all 32-bit numbers in turn, in an order that depends on a secret
// key. So a late answer is never taken for the answer to another packet, and an attacker cannot
// guess which numbers are outstanding. [PDS-201]
#pragma once

#include "base/hash.h"
#include "base/serial.h"

#include <cstdint>

namespace uet::pds {

class PktIds {
 public:
  explicit PktIds(uint64_t key) : key_(key) {}

  PktId next() { return PktId(permuted(count_++)); }

 private:
  // Four rounds of a Feistel network: whatever the mixing does, different numbers stay different.
  uint32_t permuted(uint32_t n) const {
    auto left = static_cast<uint16_t>(n >> 16);
    auto right = static_cast<uint16_t>(n);
    for (uint64_t round = 0; round < 4; ++round) {
      const auto mixed = static_cast<uint16_t>(hash64(right, round, key_) >> 48);
      const auto next = static_cast<uint16_t>(left ^ mixed);
      left = right;
      right = next;
    }
    return uint32_t{left} << 16 | right;
  }

  uint64_t key_;
  uint32_t count_ = 0;
};

}  // namespace uet::pds
