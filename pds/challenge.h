// How a target under a flood of SYNs tells senders that hear it from forged ones, and keeps nothing
// of either: it answers a SYN with NACK NEW_START_PSN, whose Start_PSN only it can compute from who
// sent the SYN. A SYN that begins there was sent by somebody who received the answer. [PDS-251,
// T-01]
#pragma once

#include "pds/peer_table.h"

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

  // Whether SYNs without a PDC are challenged now. Where one was, others go on being challenged for
  // a while: its sender's packets of before must not open a PDC besides the one it will open.
  bool is_on(bool is_flooded, Instant now) const { return is_flooded || now < until_; }

  // The Start_PSN that the sender of that SYN is told.
  Psn ask(const FabricAddress& from, Pdcid spdcid, Instant now) {
    until_ = now + kHold;
    return start_of(from, spdcid, epoch_of(now));
  }
  // The sender was told that Start_PSN, not long ago: it receives what is sent to its address.
  bool is_answered(const FabricAddress& from, Pdcid spdcid, Psn start, Instant now) const {
    if (now >= until_ + kHold) return false;  // nobody was asked
    const int64_t epoch = epoch_of(now);
    return start == start_of(from, spdcid, epoch) || start == start_of(from, spdcid, epoch - 1);
  }

 private:
  static constexpr int kEpochShift = 33;                   // 8.6 s: a Start_PSN holds that
  static constexpr Duration kHold = Duration::seconds(9);  // long at least, twice at most

  static int64_t epoch_of(Instant now) { return now.ns() >> kEpochShift; }
  Psn start_of(const FabricAddress& from, Pdcid spdcid, int64_t epoch) const {
    struct {
      FabricAddress from;
      int64_t epoch;
      uint64_t spdcid;
    } const words{from, epoch, spdcid.value()};
    static_assert(sizeof words == sizeof from + 16, "no padding");
    return Psn(static_cast<uint32_t>(siphash(std::as_bytes(std::span(&words, 1)), key_)));
  }

  SipKey key_;
  Instant until_;  // SYNs are challenged at least until then
};

}  // namespace uet::pds
