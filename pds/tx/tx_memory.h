// The memory of a send window: one block with its slots and their state, in several sizes.
// [decision 15]
#pragma once

#include "pds/block_pool.h"
#include "pds/tx/arrivals.h"
#include "pds/tx/tx_queues.h"
#include "pds/tx/tx_slot.h"

#include "base/serial.h"

#include <cstdint>

namespace uet::pds {

// State of LossDetector for this window. Only LossDetector writes it; a window that restarts clears
// it.
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

// Head of a window's memory: the queues of its slots, and the evidence of their arrivals. It fills
// whole cache lines, so that no slot after it lies in two.
struct alignas(64) TxHead {
  // The window is empty and begins there: its slots stand in no queue.
  void start(Psn first_psn) {
    UET_DEBUG_ASSERT(queues.used() == 0 && arrivals.count() == 0 && arrivals.passed() == 0);
    judgement.clear(first_psn);
    quiet_from = aside_from = first_psn;
    arrivals.forget_newest();
  }
  // The slot stands in a queue and is to wait for something else, or for nothing.
  void leave_queue(TxSlot* slots, uint32_t at) {
    arrivals.on_leaving(queues, slots[at], at);
    queues.remove(slots, at);
  }
  // The oldest packet of the window is answered and was the oldest of its queue, as nearly always:
  // nothing was sent before it that its arrival could have passed. False: it is another one, and
  // nothing was changed.
  bool answer_oldest(TxSlot* slots, uint32_t at);

  Judgement judgement;
  Psn quiet_from;  // no slot below is quiet
  Psn aside_from;  // no slot below is set aside
  Arrivals arrivals;
  TxQueues queues;
};
static_assert(sizeof(TxHead) <= 320);

inline bool TxHead::answer_oldest(TxSlot* slots, uint32_t at) {
  TxSlot& slot = slots[at];
  const uint8_t queue = slot.queue;
  if (queue >= TxQueue::kPaths || queues.first(queue) != at || slot.state.was_resent()) {
    return false;
  }
  arrivals.note_newest(slot.sent_tick());
  if (arrivals.has_passed(queue) && arrivals.passed_to(queue) == at) arrivals.forget_passed(queue);
  queues.remove_first(slots, slot, at, queue);
  slot.counted_arrived = true;
  slot.state.answer();
  return true;
}

// Slot memory of several sizes, so that a PDC with little outstanding holds little. Blocks are
// reused last in, first out, so the blocks of a small load stay in the cache. [decision 15]
class TxPool {
 public:
  static constexpr uint32_t kSizes = 6;
  static constexpr uint32_t kSlots[kSizes] = {4, 16, 64, 256, 1024, 2048};

  void create(Arena& arena, uint32_t max_pdcs);
  // The smallest free block with at least `slots` slots; null when there is none.
  TxHead* take(uint32_t slots, uint32_t& got);
  void give(TxHead* block, uint32_t slots);
  uint32_t in_use() const;
  uint64_t in_use_bytes() const;

 private:
  BlockPool pools_[kSizes];
};

// The block of one window, where it has one, and which PSN has which slot. The window says how far
// it reaches.
class TxMemory {
 public:
  bool is_held() const { return head_ != nullptr; }
  TxHead* operator->() const { return head_; }
  const TxHead* head() const { return head_; }
  TxSlot* slots() const { return reinterpret_cast<TxSlot*>(head_ + 1); }
  uint32_t capacity() const { return capacity_; }  // slots, a power of two; 0 without a block
  // Has slot 0: a window that is often empty stays in the first slots.
  Psn origin() const { return origin_; }
  void set_origin(Psn psn) { origin_ = psn; }

  uint32_t index(Psn psn) const { return (psn.value() - origin_.value()) & (capacity_ - 1); }
  TxSlot& slot(Psn psn) const { return slots()[index(psn)]; }
  // The PSN of the slot at that index, of a window that begins at `base`.
  Psn psn_at(uint32_t index_of, Psn base) const {
    return base + ((index_of - index(base)) & (capacity_ - 1));
  }
  Arrivals::Ring ring(Psn base) const { return {index(base), capacity_ - 1}; }

  // The smallest block with more than `size` slots; `size` slots from `base` on are kept, and base
  // gets slot 0. False: there is none.
  bool grow(TxPool& pool, Psn base, uint32_t size);
  void release(TxPool& pool);

 private:
  TxHead* head_ = nullptr;  // followed by the slots
  uint32_t capacity_ = 0;
  Psn origin_;
};
static_assert(sizeof(TxHead) % alignof(TxSlot) == 0);

}  // namespace uet::pds
