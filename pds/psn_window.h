// The two halves of a PDC direction: TxWindow remembers what was sent and is not answered yet,
// RxWindow which PSNs have arrived and how far the cumulative ACK may go. Neither sends anything.
// [PDS 3, 7.2, 9]
#pragma once

#include "pds/block_pool.h"
#include "pds/client.h"

#include "base/prefetch.h"
#include "base/ring_bitmap.h"
#include "base/serial.h"
#include "base/time.h"

#include <cstdint>

namespace uet::pds {

// Times in 32 bits of 128 ns, which wrap after 9 minutes. [CMS-025]
struct SentTick {
  static constexpr int kShift = 7;
  static uint32_t of(Instant t) { return static_cast<uint32_t>(t.ns() >> kShift); }
  static constexpr Duration one() { return Duration::nanoseconds(int64_t{1} << kShift); }
  // Up to 9 minutes ago, or 2 s ahead: an arrival may be stamped after `now` was read.
  static Duration since(uint32_t tick, Instant now) {
    const uint32_t ticks = of(now) - tick;
    const bool is_ahead = ticks >= 0xFF00'0000;
    const int64_t passed = is_ahead ? static_cast<int64_t>(static_cast<int32_t>(ticks)) : ticks;
    return Duration::nanoseconds(passed * (1 << kShift));
  }
  // The same for what may lie far back, where whole wraps do not matter; up to a tick too much.
  static Duration age(uint32_t tick, Instant now) {
    return Duration::nanoseconds((static_cast<int64_t>(of(now) - tick) + 1) * (1 << kShift));
  }
};

// What travels under a PSN: a packet of a message, or a control packet that takes one. [PDS 13]
enum class SlotKind : uint8_t {
  data,
  close_cmd,
  close_req,
  noop,  // fills the PSN of a packet that its message gave up
};

// One outstanding PSN. [PDS-066]
struct TxSlot {
  PacketRef ref;
  uint32_t sent_low = 0;   // ticks of the last transmission, see sent_high
  Entropy ev;              // of the last transmission
  uint16_t bytes = 0;      // nominal, of the last transmission
  uint8_t rto_count = 0;   // resends after a time-out, saturating [PDS-117]
  uint8_t nack_count = 0;  // NACKs, saturating
  SlotKind kind : 2 = SlotKind::data;
  bool in_flight : 1 = false;  // counted by CMS [PDS-240]
  bool sacked : 1 = false;     // arrived, response not seen yet [PDS-093]
  bool done : 1 = false;       // answered
  bool lost : 1 = false;       // to be sent again as soon as CMS allows
  bool delayed : 1 = false;    // to be sent again when its NACK delay is over [PDS-118]
  bool ask : 1 = false;        // an ACK Request for it is due [PDS-L6]
  bool quiet : 1 = false;      // went without AR, and was not asked for since [PDS-064]
  bool was_asked : 1 = false;  // its answer may be one to an ACK Request: no RTT [PDS-141]
  uint16_t resends : 2 = 0;    // 0, 1, or more than that [CMS-025]
  // 36 bits of ticks wrap after 146 minutes: a process that was stopped, with PEER_TIMEOUT at its
  // most, still knows how old its packets are.
  uint16_t sent_high : 4 = 0;

  static constexpr int kTickBits = 36;
  static uint64_t tick_of(Instant t) { return static_cast<uint64_t>(t.ns()) >> SentTick::kShift; }
  void note_sent(Instant now) {
    const uint64_t tick = tick_of(now);
    sent_low = static_cast<uint32_t>(tick);
    sent_high = static_cast<uint16_t>(tick >> 32 & 0xF);
  }
  uint64_t sent_tick() const { return uint64_t{sent_high} << 32 | sent_low; }
  // Time since the last transmission.
  Duration sent_for(Instant now) const {
    const uint64_t passed = (tick_of(now) - sent_tick()) & ((uint64_t{1} << kTickBits) - 1);
    return Duration::nanoseconds(static_cast<int64_t>(passed << SentTick::kShift));
  }
  // From tick b to tick a; negative when a came first.
  static int64_t ticks_between(uint64_t a, uint64_t b) {
    constexpr int kSpare = 64 - kTickBits;
    return static_cast<int64_t>((a - b) << kSpare) >> kSpare;
  }
};
static_assert(sizeof(TxSlot) == 24, "architecture 10: octets of an outstanding packet");

// Slot memory of several sizes, so that a PDC with little outstanding holds little. Blocks are
// reused last in, first out: those that few packets need stay in the cache. [architecture 10]
class TxPool {
 public:
  static constexpr uint32_t kSizes = 5;
  static constexpr uint32_t kSlots[kSizes] = {16, 64, 256, 1024, 2048};

  void create(Arena& arena, uint32_t max_pdcs);
  // The smallest free block with at least `slots` slots; null when there is none.
  TxSlot* take(uint32_t slots, uint32_t& got);
  void give(TxSlot* block, uint32_t slots);
  uint32_t in_use() const;
  uint64_t in_use_bytes() const;

 private:
  BlockPool pools_[kSizes];
};

// Holds memory only while something is outstanding.
class TxWindow {
 public:
  // Nothing outstanding; the first PSN will be `first`.
  void start(Psn first);
  // Gives the slot memory back when nothing is outstanding any more. Slots are gone after it.
  void release_if_empty(TxPool& pool) {
    if (empty() && slots_ != nullptr) release(pool);
  }
  // Forgets everything outstanding and gives the memory back; the next PSN stays.
  void abandon(TxPool& pool);

  // Makes sure that push() has a slot. False: pool empty, nothing was changed.
  [[nodiscard]] bool reserve(TxPool& pool);
  // Takes the next PSN. Requires reserve().
  TxSlot& push();

  // Renumbers everything that is outstanding. [PDS-051]
  void rebase(int32_t delta);

  // Oldest PSN without an answer; next() when all are answered.
  Psn base() const { return base_; }
  Psn next() const { return next_; }
  uint32_t size() const { return static_cast<uint32_t>(next_ - base_); }
  bool empty() const { return base_ == next_; }
  bool contains(Psn psn) const { return psn.value() - base_.value() < size(); }
  // A slot between base() and next(), answered or not.
  TxSlot& operator[](Psn psn) {
    UET_DEBUG_ASSERT(contains(psn));
    return slots_[index(psn)];
  }
  // The slot if it is outstanding and not answered, else null.
  TxSlot* find(Psn psn) {
    if (!contains(psn)) return nullptr;
    TxSlot& slot = (*this)[psn];
    return slot.done ? nullptr : &slot;
  }
  // The slot that will most likely be answered next.
  void prefetch_oldest() const {
    if (!empty()) prefetch(&slots_[index(base_)], sizeof(TxSlot));
  }
  // Marks it answered and moves base() over everything answered.
  void complete(Psn psn);

  uint32_t capacity() const { return capacity_; }

 private:
  uint32_t index(Psn psn) const { return (psn.value() - origin_.value()) & (capacity_ - 1); }
  void release(TxPool& pool);

  TxSlot* slots_ = nullptr;
  uint32_t capacity_ = 0;  // a power of two, or 0
  Psn origin_;             // has slot 0: a window that is often empty stays in the first slots
  Psn base_;
  Psn next_;
};

// How a PSN stands to the receive window. [PDS 7.2]
enum class Arrival : uint8_t {
  fresh,         // not received yet
  dup_window,    // received, above the cumulative ACK
  dup_below,     // at or below the cumulative ACK
  too_old,       // farther below than ACK_PSN can express
  beyond_range,  // above what is tracked
};

// Packets in order, whose response is the default one, leave nothing to remember but the PSN. The
// bitmaps are there only while something above the cumulative ACK has arrived.
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

  // PSNs above the cumulative ACK that want an ACK naming them. [PDS-064]
  void want_answer(Psn psn);
  // Takes the lowest one. False: none.
  bool take_answer(Psn& psn);

 private:
  // In a block of the pool, followed by its words. Bit i is PSN base_ + i.
  struct Bitmaps {
    RingBitmap received;
    RingBitmap held;
    RingBitmap answer;
    uint32_t answers = 0;  // upper bound of bits set in answer
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
