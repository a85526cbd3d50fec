// What one direction of a PDC has sent and is not answered yet: a slot for each PSN, and queues of
// the slots by what they wait for, so that neither an ACK nor a timer looks at all of them.
// It sends nothing. [PDS 3, 12]
#pragma once

#include "pds/block_pool.h"
#include "pds/tx/arrivals.h"
#include "pds/tx/tx_queues.h"
#include "pds/tx/tx_slot.h"

#include "base/prefetch.h"
#include "base/serial.h"
#include "base/time.h"

#include <cstdint>

namespace uet::pds {

// What LossDetector remembers of the window it looks at. It alone writes here; a window that starts
// anew clears it.
struct Judgement {
  void clear(Psn first) {
    in_recovery = false;
    overdue_from = first;
  }

  uint64_t recovery_tick = 0;  // resent after this: not again in this recovery
  Psn recovery_psn;            // recovery ends when the base is past this
  Psn judged;                  // in recovery: nothing below is to be looked at again
  Psn overdue_from;            // no first transmission below can still be overdue
  bool in_recovery = false;
};

// Heads the memory of a window. Whole lines, so that no slot behind it lies in two.
struct alignas(64) TxHead {
  // The window is empty and begins there: its slots stand in no queue.
  void start(Psn first_psn) {
    UET_DEBUG_ASSERT(queues.used() == 0 && arrivals.count() == 0 && arrivals.passed() == 0);
    judgement.clear(first_psn);
    quiet_from = aside_from = first_psn;
    arrivals.forget_newest();
  }

  Judgement judgement;
  Psn quiet_from;  // no slot below is quiet
  Psn aside_from;  // no slot below is set aside
  Arrivals arrivals;
  TxQueues queues;
};
static_assert(sizeof(TxHead) <= 320);

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
    if (!empty() || head_ == nullptr) return;
    pool.give(head_, capacity_);
    head_ = nullptr;
    capacity_ = 0;
  }
  // Forgets everything outstanding and gives the memory back; the next PSN stays.
  void abandon(TxPool& pool);

  // Makes sure that push() has a slot. False: pool empty, nothing was changed.
  [[nodiscard]] bool reserve(TxPool& pool) { return size() < capacity_ || grow(pool); }
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
    return slot.state.is_answered() ? nullptr : &slot;
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
  uint32_t arrived() const { return head_ == nullptr ? 0 : head_->arrivals.count(); }
  // The slot waits for the peer to track it, and for no time. settle() ends that. [PDS-245]
  void set_aside(Psn psn);
  bool has_aside() const { return head_ != nullptr && head_->queues.has(TxQueue::kAside); }
  // The slots set aside, by PSN, as long as fn(psn, slot) returns true: fn has then settled it.
  template <class Fn>
  void for_each_aside(Fn&& fn);
  // Calls fn(queue, psn) for the oldest slot of each queue that has one, but those that are asked
  // for or set aside, again and again as long as it returns true: fn has then moved that slot
  // elsewhere.
  template <class Fn>
  void for_each_oldest(Fn&& fn);
  // The oldest slot that is asked for. False: none. [PDS-L6]
  bool next_asked(Psn& psn) const;
  // The quiet slots, by PSN. [PDS-064]
  template <class Fn>
  void for_each_quiet(Fn&& fn);
  // The oldest of them. False: none.
  bool oldest_quiet(Psn& psn);

 private:
  friend class LossDetector;  // reads slots, queues and arrivals; keeps its judgement here

  TxSlot* slots() const { return reinterpret_cast<TxSlot*>(head_ + 1); }
  uint32_t index(Psn psn) const { return (psn.value() - origin_.value()) & (capacity_ - 1); }
  Psn psn_at(uint32_t index_of) const {
    return base_ + ((index_of - index(base_)) & (capacity_ - 1));
  }
  void leave_queue(uint32_t at);
  Arrivals::Ring ring() const { return {index(base_), capacity_ - 1}; }
  bool complete_oldest(TxSlot& slot, uint32_t at);
  void pass_answered();
  bool grow(TxPool& pool);

  TxHead* head_ = nullptr;  // followed by the slots
  uint32_t capacity_ = 0;   // a power of two, or 0
  Psn origin_;              // has slot 0: a window that is often empty stays in the first slots
  Psn base_;
  Psn next_;
};
static_assert(sizeof(TxHead) % alignof(TxSlot) == 0);

inline void TxWindow::note_first_sent(Psn psn) {
  const uint32_t at = index(psn);
  const TxSlot& slot = slots()[at];
  UET_DEBUG_ASSERT(slot.queue == TxSlot::kNoQueue && !slot.state.was_resent());
  head_->queues.append(slots(), at, TxQueue::of_path(slot));
  if (slot.state.is_quiet() && psn.before(head_->quiet_from)) head_->quiet_from = psn;
}

template <class Fn>
void TxWindow::for_each_oldest(Fn&& fn) {
  if (head_ == nullptr) return;
  constexpr uint64_t kUntimed = uint64_t{1} << TxQueue::kAsking | uint64_t{1} << TxQueue::kAside;
  for (uint64_t left = head_->queues.used() & ~kUntimed; left != 0; left &= left - 1) {
    const auto queue = static_cast<uint8_t>(__builtin_ctzll(left));
    while (head_->queues.has(queue) && fn(queue, psn_at(head_->queues.first(queue)))) {
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
    if (slot.state.is_quiet() && !slot.state.is_answered()) fn(p, slot);
  }
  head_->quiet_from = next_;
}

template <class Fn>
void TxWindow::for_each_aside(Fn&& fn) {
  if (!has_aside()) return;
  Psn& from = head_->aside_from;
  if (from.before(base_)) from = base_;
  for (; from.before(next_); ++from) {
    TxSlot& slot = (*this)[from];
    if (slot.queue == TxQueue::kAside && !fn(from, slot)) return;
  }
}

}  // namespace uet::pds
