// Challenges under a flood of SYNs: the target stores nothing about the SYN and answers it with
// NACK NEW_START_PSN. Only the target can compute this Start_PSN from the sender of the SYN. A SYN
// that begins there proves that its sender received the NACK. [PDS-251, T-01]
#pragma once

#include "pds/pdc/peer_table.h"

#include "base/packet.h"
#include "base/random_source.h"
#include "base/serial.h"
#include "base/siphash.h"
#include "base/time.h"

#include <cstdint>

namespace uet::pds {

class Challenge {
 public:
  explicit Challenge(RandomSource& random) : key_{random.u64(), random.u64()} {}

  // Whether SYNs without a PDC are challenged now. After a challenge this lasts for a while, so
  // that packets that its sender sent before the new start do not open a second PDC.
  bool is_on(bool is_flooded, Instant now) const { return is_flooded || now < until_; }

  // The Start_PSN to send back for a SYN. `is_taken(Psn)` says whether a tombstone of that sender
  // and PDCID has the Start_PSN: a new PDC that began there would be taken for the closed one.
  template <class IsTaken>
  Psn ask(const FabricAddress& from, Pdcid spdcid, Instant now, IsTaken&& is_taken) {
    until_ = now + kHold;
    Psn start;
    for (uint32_t variant = 0; variant < kVariants; ++variant) {
      start = start_of(from, spdcid, epoch_of(now), variant);
      if (!is_taken(start)) break;
    }
    return start;
  }
  // Whether `start` is a valid challenge for that sender, which proves that it receives our
  // packets.
  bool is_answered(const FabricAddress& from, Pdcid spdcid, Psn start, Instant now) const {
    if (now >= until_ + kHold) return false;  // no challenge was sent
    const int64_t epoch = epoch_of(now);
    const uint32_t variant = start.value() >> kVariantShift;
    return start == start_of(from, spdcid, epoch, variant) ||
           start == start_of(from, spdcid, epoch - 1, variant);
  }

 private:
  static constexpr int kEpochShift = 33;                   // 8.6 s: how long a Start_PSN is valid,
  static constexpr Duration kHold = Duration::seconds(9);  // long at least, twice at most

  static constexpr int kVariantShift = 30;  // the two highest bits of the Start_PSN
  static constexpr uint32_t kVariants = 4;

  static int64_t epoch_of(Instant now) { return now.ns() >> kEpochShift; }
  Psn start_of(const FabricAddress& from, Pdcid spdcid, int64_t epoch, uint32_t variant) const {
    struct {
      FabricAddress from;
      int64_t epoch;
      uint32_t spdcid;
      uint32_t variant;
    } const words{from, epoch, spdcid.value(), variant};
    static_assert(sizeof words == sizeof from + 16, "no padding");
    const uint64_t hash = siphash(std::as_bytes(std::span(&words, 1)), key_);
    return Psn(variant << kVariantShift | static_cast<uint32_t>(hash >> (64 - kVariantShift)));
  }

  SipKey key_;
  Instant until_;  // SYNs are challenged at least until then
};

}  // namespace uet::pds
