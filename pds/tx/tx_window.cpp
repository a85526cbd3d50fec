// The memory of the send window, its slots and their queues.
#include "pds/tx/tx_window.h"

#include "base/assert.h"

#include <algorithm>
#include <new>

namespace uet::pds {

// --- TxPool ---

void TxPool::create(Arena& arena, uint32_t max_pdcs) {
  // Every PDC can have the smallest block; the larger ones are for the few that are busy.
  constexpr uint32_t kShare[kSizes] = {1, 2, 4, 16, 64};
  for (uint32_t i = 0; i < kSizes; ++i) {
    const uint32_t count = std::max(max_pdcs / kShare[i], 4u);
    pools_[i].create(arena, count, sizeof(TxHead) + sizeof(TxSlot) * kSlots[i]);
  }
}

TxHead* TxPool::take(uint32_t slots, uint32_t& got) {
  for (uint32_t i = 0; i < kSizes; ++i) {
    if (kSlots[i] < slots) continue;
    if (void* const block = pools_[i].take()) {
      got = kSlots[i];
      return new (block) TxHead;
    }
  }
  return nullptr;
}

void TxPool::give(TxHead* block, uint32_t slots) {
  for (uint32_t i = 0; i < kSizes; ++i) {
    if (kSlots[i] == slots) return pools_[i].give(block);
  }
  assert_failed("no pool has blocks of this size", __FILE__, __LINE__);
}

uint32_t TxPool::in_use() const {
  uint32_t n = 0;
  for (const BlockPool& p : pools_) n += p.in_use();
  return n;
}

uint64_t TxPool::in_use_bytes() const {
  uint64_t n = 0;
  for (const BlockPool& p : pools_) n += p.in_use_bytes();
  return n;
}

// --- TxWindow: memory ---

void TxWindow::start(Psn first) {
  UET_ASSERT(head_ == nullptr);
  origin_ = base_ = next_ = first;
}

void TxWindow::release(TxPool& pool) {
  UET_ASSERT(empty());
  pool.give(head_, capacity_);
  head_ = nullptr;
  capacity_ = 0;
}

void TxWindow::abandon(TxPool& pool) {
  base_ = next_;
  release_if_empty(pool);
}

bool TxWindow::reserve(TxPool& pool) {
  const uint32_t used = size();
  if (used < capacity_) return true;
  uint32_t got = 0;
  TxHead* const block = pool.take(used + 1, got);
  if (block == nullptr) return false;
  TxHead* const old = head_;
  const uint32_t old_capacity = capacity_;
  move_to(block, got);
  if (old != nullptr) pool.give(old, old_capacity);
  return true;
}

// The slot of the base becomes the first one, so places change, and with them the links.
void TxWindow::move_to(TxHead* block, uint32_t capacity) {
  auto* const to = reinterpret_cast<TxSlot*>(block + 1);
  if (head_ == nullptr) {
    block->start(base_);
  } else {
    const auto moved = [this, first = index(base_)](uint16_t at) {
      return static_cast<uint16_t>((at - first) & (capacity_ - 1));
    };
    *block = *head_;
    for (uint32_t q = 0; q < TxQueue::kCount; ++q) {
      if ((head_->used >> q & 1) != 0) block->first[q] = moved(head_->first[q]);
    }
    for (uint32_t q = 0; q < TxQueue::kPaths; ++q) {
      if ((head_->passed >> q & 1) != 0) block->passed_to[q] = moved(head_->passed_to[q]);
    }
    for (uint32_t i = 0; i < size(); ++i) {
      TxSlot* const slot = new (&to[i]) TxSlot(slots()[index(base_ + i)]);
      if (slot->queue == TxSlot::kNoQueue) continue;
      slot->next = moved(slot->next);
      slot->prev = moved(slot->prev);
    }
  }
  head_ = block;
  capacity_ = capacity;
  origin_ = base_;
}

TxSlot& TxWindow::push() {
  UET_ASSERT(size() < capacity_);
  if (empty()) {
    head_->start(next_);
    origin_ = next_;
  }
  TxSlot* const slot = new (&slots()[index(next_)]) TxSlot;
  ++next_;
  return *slot;
}

void TxWindow::rebase(int32_t delta) {
  origin_ = origin_ + delta;  // so that every slot keeps its place
  base_ = base_ + delta;
  next_ = next_ + delta;
  if (head_ == nullptr) return;
  head_->in_recovery = false;
  head_->judged = head_->overdue_from = head_->quiet_from = base_;
}

TxSlot* TxWindow::recent(Psn psn) {
  if (head_ == nullptr || !psn.before(next_) || psn.before(origin_)) return nullptr;
  if (static_cast<uint32_t>(next_ - psn) > capacity_) return nullptr;
  return &slots()[index(psn)];
}

// --- TxWindow: queues ---

uint8_t TxWindow::queue_of(const TxSlot& slot) {
  const auto level = [](uint8_t count) { return std::min<uint8_t>(count, TxQueue::kLevels - 1); };
  if (slot.done || slot.lost) return TxSlot::kNoQueue;
  if (slot.ask) return TxQueue::kAsking;
  if (slot.delayed) {
    const uint8_t refused = slot.nack_count > 0 ? slot.nack_count - 1 : 0;
    return static_cast<uint8_t>(TxQueue::kDelayed + level(refused));
  }
  if (slot.sacked) return static_cast<uint8_t>(TxQueue::kSacked + level(slot.rto_count));
  if (slot.rto_count > 0) {
    return static_cast<uint8_t>(TxQueue::kRetried + level(slot.rto_count - 1));
  }
  return static_cast<uint8_t>(TxQueue::kPath + slot.ev.value() % TxQueue::kPaths);
}

void TxWindow::settle(Psn psn) {
  const uint32_t at = index(psn);
  TxSlot& slot = slots()[at];
  if (slot.sacked != slot.counted_arrived) {
    if (slot.sacked) note_arrival(at);
    head_->arrived = static_cast<uint16_t>(head_->arrived + (slot.sacked ? 1 : -1));
    slot.counted_arrived = slot.sacked;
  }
  if (slot.queue != TxSlot::kNoQueue) unlink(at);
  const uint8_t queue = queue_of(slot);
  if (queue != TxSlot::kNoQueue) link(at, queue);
  if (slot.quiet && psn.before(head_->quiet_from)) head_->quiet_from = psn;
}

// The oldest packet of the window and of its queue is answered, as nearly always: nothing was sent
// before it that its arrival could have passed. False: it is another one.
bool TxWindow::complete_oldest(TxSlot& slot, uint32_t at) {
  const uint8_t queue = slot.queue;
  if (queue >= TxQueue::kPaths || head_->first[queue] != at || slot.resends != 0) return false;
  const uint64_t tick = slot.sent_tick();
  if (!head_->any_arrived || TxSlot::ticks_between(tick, head_->newest_tick) > 0) {
    head_->newest_tick = tick;
    head_->any_arrived = true;
  }
  if ((head_->passed >> queue & 1) != 0 && head_->passed_to[queue] == at) {
    head_->passed &= ~(uint32_t{1} << queue);
  }
  if (slot.next == at) {
    head_->used &= ~(uint64_t{1} << queue);
  } else {
    head_->first[queue] = slot.next;
    slots()[slot.prev].next = slot.next;
    slots()[slot.next].prev = slot.prev;
  }
  slot.queue = TxSlot::kNoQueue;
  slot.counted_arrived = slot.done = true;
  ++base_;
  return true;
}

void TxWindow::complete(Psn psn) {
  const uint32_t at = index(psn);
  TxSlot& slot = slots()[at];
  if (psn == base_ && !slot.counted_arrived && complete_oldest(slot, at)) {
    if (head_->arrived != 0) pass_answered();
    return;
  }
  if (!slot.counted_arrived) {
    note_arrival(at);
    ++head_->arrived;
    slot.counted_arrived = true;
  }
  if (slot.queue != TxSlot::kNoQueue) unlink(at);
  slot.done = true;
  pass_answered();
}

// Moves the base over slots that are answered.
void TxWindow::pass_answered() {
  while (base_ != next_ && (*this)[base_].done) {
    --head_->arrived;
    ++base_;
  }
}

void TxWindow::link(uint32_t at, uint8_t queue) {
  if (TxQueue::is_in_flight(queue) && slots()[at].resends > 0) ++head_->resent;
  append(at, queue);
}

void TxWindow::unlink(uint32_t at) {
  TxSlot* const all = slots();
  TxSlot& slot = all[at];
  const uint8_t queue = slot.queue;
  slot.queue = TxSlot::kNoQueue;
  if (TxQueue::is_in_flight(queue) && slot.resends > 0) --head_->resent;
  // What has been passed is now only what stands before it.
  if (queue < TxQueue::kPaths && (head_->passed >> queue & 1) != 0 &&
      head_->passed_to[queue] == at) {
    if (head_->first[queue] == at) {
      head_->passed &= ~(uint32_t{1} << queue);
    } else {
      head_->passed_to[queue] = slot.prev;
    }
  }
  if (slot.next == at) {
    head_->used &= ~(uint64_t{1} << queue);
    return;
  }
  if (head_->first[queue] == at) head_->first[queue] = slot.next;
  all[slot.prev].next = slot.next;
  all[slot.next].prev = slot.prev;
}

// A packet is known to have arrived: those sent before it on its EV have been passed. Of one that
// was sent again nobody knows which transmission arrived: it is no evidence. [PDS-L3, PDS-L4]
void TxWindow::note_arrival(uint32_t at) {
  const TxSlot& slot = slots()[at];
  if (slot.resends != 0) return;
  const uint64_t tick = slot.sent_tick();
  if (!head_->any_arrived || TxSlot::ticks_between(tick, head_->newest_tick) > 0) {
    head_->newest_tick = tick;
  }
  head_->any_arrived = true;
  const uint8_t queue = slot.queue;
  if (queue >= TxQueue::kPaths || head_->first[queue] == at) return;
  const bool is_known = (head_->passed >> queue & 1) != 0;
  if (is_known) {
    // Two EVs share the queue: the first keeps it until the arrivals are looked at.
    if (head_->passed_by[queue] != slot.ev) return;
    const TxSlot& known = slots()[head_->passed_to[queue]];
    const TxSlot& before = slots()[slot.prev];
    const int64_t ahead = TxSlot::ticks_between(before.sent_tick(), known.sent_tick());
    const bool is_later =
        ahead > 0 || (ahead == 0 && psn_at(slot.prev).after(psn_at(head_->passed_to[queue])));
    if (!is_later) return;
  }
  head_->passed |= uint32_t{1} << queue;
  head_->passed_to[queue] = slot.prev;
  head_->passed_by[queue] = slot.ev;
}

bool TxWindow::next_asked(Psn& psn) const {
  if (head_ == nullptr || (head_->used >> TxQueue::kAsking & 1) == 0) return false;
  psn = psn_at(head_->first[TxQueue::kAsking]);
  return true;
}

bool TxWindow::oldest_quiet(Psn& psn) {
  if (head_ == nullptr) return false;
  Psn p = head_->quiet_from;
  if (p.before(base_)) p = base_;
  while (p.before(next_) && !((*this)[p].quiet && !(*this)[p].done)) ++p;
  head_->quiet_from = psn = p;
  return p.before(next_);
}

}  // namespace uet::pds
