// Which PSNs of one direction of a PDC have arrived, and how far the cumulative ACK may go. It
// sends nothing. [PDS 3, 7.2, 9]
#pragma once

#include "pds/block_pool.h"

#include "base/prefetch.h"
#include "base/ring_bitmap.h"
#include "base/serial.h"

#include <cstdint>

namespace uet::pds {

// How a PSN stands to the receive window. [PDS 7.2]
enum class Arrival : uint8_t {
  fresh,         // not received yet
  dup_window,    // received, above the cumulative ACK
  dup_below,     // at or below the cumulative ACK
  too_old,       // farther below than ACK_PSN can express
  beyond_range,  // above what is tracked
};

// A packet in order with a default response leaves no state but the PSN. The bitmaps exist only
// while a PSN above the cumulative ACK has arrived.
class RxWindow {
 public:
  // Nothing received; the first PSN will be `first`.
  void start(Psn first, uint32_t range_packets);
  // Octets of the bitmaps for a range.
  static size_t block_bytes(uint32_t range_packets);
  // accept() will find memory, whatever arrives. [PDS-V12]
  bool may_accept(BlockPool& pool) const { return bitmaps_ != nullptr || pool.can_take(); }
  void release(BlockPool& pool);

  Arrival classify(Psn psn) const;
  void prefetch() const { uet::prefetch(bitmaps_, kLineBytes); }

  // Records a fresh PSN. `held`: its response must be remembered, so the cumulative ACK stays
  // below it until unhold(). Requires may_accept(). [PDS-034, PDS-081]
  void accept(BlockPool& pool, Psn psn, bool held);
  // Lets the cumulative ACK pass the PSN, which may lie below the window already.
  void unhold(BlockPool& pool, Psn psn);
  // As if it had never arrived: for a late refusal of a held PSN.
  void forget(Psn psn);

  bool received(Psn psn) const {
    return contains(psn) ? bitmaps_->received.test(offset(psn)) : psn.before(base_);
  }
  bool is_held(Psn psn) const { return contains(psn) && bitmaps_->held.test(offset(psn)); }
  // The next held PSN below `psn`, which becomes it. False: none. Cost: a bit for each PSN between.
  bool find_held_below(Psn& psn) const;
  // Everything below `psn` has arrived, whether cleared or not.
  bool all_received_below(Psn psn) const;

  Psn base() const { return base_; }
  Psn cack_psn() const { return base_ - 1; }
  // Highest PSN that ever arrived; base() - 1 or above.
  Psn max_received() const { return max_received_; }
  // Something above the cumulative ACK has arrived.
  bool has_above() const { return max_received_.after(cack_psn()); }
  // Packets that arrived behind a gap. Cost: as far as anything has arrived, 64 PSNs at a time.
  uint32_t out_of_order() const {
    if (bitmaps_ == nullptr) return 0;
    return bitmaps_->received.count() - bitmaps_->received.leading_ones();
  }
  uint32_t range() const { return range_; }
  // Received bits from `from` on; PSNs at or below the cumulative ACK read as set.
  uint64_t bits64(Psn from) const;

 private:
  // In a block of the pool, followed by its words. Bit i is PSN base_ + i.
  struct Bitmaps {
    RingBitmap received;
    RingBitmap held;
  };

  bool contains(Psn psn) const {
    return bitmaps_ != nullptr && psn.value() - base_.value() < bitmaps_->received.size();
  }
  uint32_t offset(Psn psn) const { return psn.value() - base_.value(); }
  void take_bitmaps(BlockPool& pool);
  void advance(BlockPool& pool);

  Bitmaps* bitmaps_ = nullptr;
  Psn base_;  // everything below has arrived and needs no state [PDS-034]
  Psn max_received_;
  uint32_t range_ = 0;
};

}  // namespace uet::pds
