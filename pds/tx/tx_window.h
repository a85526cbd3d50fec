// What one direction of a PDC has sent and is not answered yet: a slot for each PSN, and queues of
// the slots by what they wait for, so that neither an ACK nor a timer looks at all of them.
// It sends nothing. [PDS 3, 12]
#pragma once

#include "pds/block_pool.h"
#include "pds/tx/tx_slot.h"

#include "base/prefetch.h"
#include "base/serial.h"
#include "base/time.h"

#include <cstdint>

namespace uet::pds {

// The queues of a window. A slot stands in at most one; answered ones and those that are about to
// be sent again stand in none.
struct TxQueue {
  static constexpr uint8_t kLevels = 10;  // of back-off; the last one takes all above
  static constexpr uint8_t kPath = 0;     // in flight, never timed out: one for each EV modulo 32
  static constexpr uint8_t kPaths = 32;
  static constexpr uint8_t kRetried = kPath + kPaths;     // in flight after 1, 2, ... time-outs
  static constexpr uint8_t kSacked = kRetried + kLevels;  // arrived, after 0, 1, ... time-outs
  static constexpr uint8_t kDelayed = kSacked + kLevels;  // refused for now, 1, 2, ... times
  static constexpr uint8_t kAsking = kDelayed + kLevels;  // an ACK Request is due
  static constexpr uint8_t kCount = kAsking + 1;

  static constexpr bool is_in_flight(uint8_t queue) { return queue < kSacked; }
};
static_assert(TxQueue::kCount <= 64, "one bit each");

// Heads the memory of a window: queues, and evidence of loss. Arrays count where masks have bits.
struct TxHead {
  void start(Psn first_psn) {
    used = 0;
    passed = 0;
    arrived = resent = 0;
    any_arrived = in_recovery = false;
    judged = overdue_from = quiet_from = first_psn;
  }

  uint64_t used = 0;           // queues with slots
  uint64_t newest_tick = 0;    // latest first transmission that is known to have arrived
  uint64_t recovery_tick = 0;  // resent after this: not again in this recovery
  uint32_t passed = 0;         // path queues of which a later packet has arrived
  Psn recovery_psn;            // recovery ends when the base is past this
  Psn judged;                  // in recovery: nothing below is to be looked at again
  Psn overdue_from;            // no first transmission below can still be overdue
  Psn quiet_from;              // no slot below is quiet
  uint16_t arrived = 0;        // slots that are sacked, or done and not passed by the base
  uint16_t resent = 0;         // slots in flight that were sent more than once
  bool any_arrived = false;    // newest_tick is one
  bool in_recovery = false;
  uint16_t first[TxQueue::kCount];      // oldest slot of each queue
  uint16_t passed_to[TxQueue::kPaths];  // the last slot that the arrived packet has passed
  Entropy passed_by[TxQueue::kPaths];   // its EV
};

// Slot memory of several sizes, so that a PDC with little outstanding holds little. Blocks are
// reused last in, first out: those that few packets need stay in the cache. [decision 15]
class TxPool {
 public:
  static constexpr uint32_t kSizes = 5;
  static constexpr uint32_t kSlots[kSizes] = {16, 64, 256, 1024, 2048};

  void create(Arena& arena, uint32_t max_pdcs);
  // The smallest free block with at least `slots` slots; null when there is none.
  TxHead* take(uint32_t slots, uint32_t& got);
  void give(TxHead* block, uint32_t slots);
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
    if (empty() && head_ != nullptr) release(pool);
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
    return slots()[index(psn)];
  }
  // The slot if it is outstanding and not answered, else null.
  TxSlot* find(Psn psn) {
    if (!contains(psn)) return nullptr;
    TxSlot& slot = (*this)[psn];
    return slot.done ? nullptr : &slot;
  }
  // The slot of a packet that is outstanding, or was answered and its slot not used again; else
  // null. [PDS-070]
  TxSlot* recent(Psn psn);
  // The slot that will most likely be answered next.
  void prefetch_oldest() const {
    if (!empty()) prefetch(&slots()[index(base_)], sizeof(TxSlot));
  }
  // Marks it answered and moves base() over everything answered.
  void complete(Psn psn);
  // The packet was sent for the first time. Requires that it is not in a queue.
  void note_first_sent(Psn psn);
  // To be called after each other change of what a slot waits for, or of its time: it goes to the
  // end of the queue that it belongs to now. A slot that has become `sacked` counts as arrived.
  void settle(Psn psn);

  // Slots that are known to have arrived, at or above the base.
  uint32_t arrived() const { return head_ == nullptr ? 0 : head_->arrived; }
  // Calls fn(queue, psn) for the oldest slot of each queue that has one, but those that are asked
  // for, again and again as long as it returns true: fn has then moved that slot elsewhere.
  template <class Fn>
  void for_each_oldest(Fn&& fn);
  // The oldest slot that is asked for. False: none. [PDS-L6]
  bool next_asked(Psn& psn) const;
  // The quiet slots, by PSN. [PDS-064]
  template <class Fn>
  void for_each_quiet(Fn&& fn);
  // The oldest of them. False: none.
  bool oldest_quiet(Psn& psn);

  uint32_t capacity() const { return capacity_; }

 private:
  friend class LossDetector;  // reads the queues and the evidence

  TxSlot* slots() const { return reinterpret_cast<TxSlot*>(head_ + 1); }
  uint32_t index(Psn psn) const { return (psn.value() - origin_.value()) & (capacity_ - 1); }
  Psn psn_at(uint32_t index_of) const {
    return base_ + ((index_of - index(base_)) & (capacity_ - 1));
  }
  static uint8_t queue_of(const TxSlot& slot);
  void link(uint32_t at, uint8_t queue);
  void append(uint32_t at, uint8_t queue);
  void unlink(uint32_t at);
  void note_arrival(uint32_t at);
  bool complete_oldest(TxSlot& slot, uint32_t at);
  void pass_answered();
  void move_to(TxHead* block, uint32_t capacity);
  void release(TxPool& pool);

  TxHead* head_ = nullptr;  // followed by the slots
  uint32_t capacity_ = 0;   // a power of two, or 0
  Psn origin_;              // has slot 0: a window that is often empty stays in the first slots
  Psn base_;
  Psn next_;
};
static_assert(sizeof(TxHead) % alignof(TxSlot) == 0);

// At the end of the queue.
inline void TxWindow::append(uint32_t at, uint8_t queue) {
  TxSlot* const all = slots();
  TxSlot& slot = all[at];
  const auto place = static_cast<uint16_t>(at);
  slot.queue = queue;
  if ((head_->used >> queue & 1) == 0) {
    head_->used |= uint64_t{1} << queue;
    head_->first[queue] = slot.next = slot.prev = place;
    return;
  }
  TxSlot& first = all[head_->first[queue]];
  slot.next = head_->first[queue];
  slot.prev = first.prev;
  all[first.prev].next = place;
  first.prev = place;
}

inline void TxWindow::note_first_sent(Psn psn) {
  const uint32_t at = index(psn);
  const TxSlot& slot = slots()[at];
  UET_DEBUG_ASSERT(slot.queue == TxSlot::kNoQueue && slot.resends == 0);
  append(at, static_cast<uint8_t>(TxQueue::kPath + slot.ev.value() % TxQueue::kPaths));
  if (slot.quiet && psn.before(head_->quiet_from)) head_->quiet_from = psn;
}

template <class Fn>
void TxWindow::for_each_oldest(Fn&& fn) {
  if (head_ == nullptr) return;
  const uint64_t asking = uint64_t{1} << TxQueue::kAsking;
  for (uint64_t left = head_->used & ~asking; left != 0; left &= left - 1) {
    const auto queue = static_cast<uint8_t>(__builtin_ctzll(left));
    while ((head_->used >> queue & 1) != 0 && fn(queue, psn_at(head_->first[queue]))) {
    }
  }
}

template <class Fn>
void TxWindow::for_each_quiet(Fn&& fn) {
  if (head_ == nullptr) return;
  Psn p = head_->quiet_from;
  if (p.before(base_)) p = base_;
  for (; p.before(next_); ++p) {
    TxSlot& slot = (*this)[p];
    if (slot.quiet && !slot.done) fn(p, slot);
  }
  head_->quiet_from = next_;
}

}  // namespace uet::pds
