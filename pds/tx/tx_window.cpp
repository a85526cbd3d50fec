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

void TxWindow::abandon(TxPool& pool) {
  base_ = next_;
  release_if_empty(pool);
}

namespace {

// Copies `count` slots of a window to a larger block, where the first of them, that of the base,
// gets the first place; so places change, and with them the links. `mask` is that of the old
// places.
[[gnu::noinline]] void copy_slots(const TxHead& from, uint32_t first, uint32_t count, uint32_t mask,
                                  TxHead& to) {
  const auto moved = [&](uint32_t at) { return static_cast<uint16_t>((at - first) & mask); };
  const auto* const slots = reinterpret_cast<const TxSlot*>(&from + 1);
  auto* const copies = reinterpret_cast<TxSlot*>(&to + 1);
  to = from;
  to.queues.renumber(moved);
  to.arrivals.renumber(moved);
  for (uint32_t i = 0; i < count; ++i) {
    TxSlot* const slot = new (&copies[i]) TxSlot(slots[(first + i) & mask]);
    if (slot->queue == TxSlot::kNoQueue) continue;
    slot->next = moved(slot->next);
    slot->prev = moved(slot->prev);
  }
}

}  // namespace

bool TxWindow::grow(TxPool& pool) {
  uint32_t got = 0;
  TxHead* const block = pool.take(size() + 1, got);
  if (block == nullptr) return false;
  if (head_ != nullptr) {
    copy_slots(*head_, index(base_), size(), capacity_ - 1, *block);
    pool.give(head_, capacity_);
  }
  head_ = block;
  capacity_ = got;
  origin_ = base_;
  return true;
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
  head_->judgement.clear(base_);
  head_->quiet_from = head_->aside_from = base_;
}

TxSlot* TxWindow::recent(Psn psn) {
  if (head_ == nullptr || !psn.before(next_) || psn.before(origin_)) return nullptr;
  if (static_cast<uint32_t>(next_ - psn) > capacity_) return nullptr;
  return &slots()[index(psn)];
}

// --- TxWindow: queues ---

uint8_t TxQueue::of(const TxSlot& slot) {
  const auto level = [](uint8_t count) { return std::min<uint8_t>(count, kLevels - 1); };
  if (slot.state.is_answered() || slot.state.is_lost()) return TxSlot::kNoQueue;
  if (slot.state.is_ask_due()) return kAsking;
  if (slot.state.is_refused()) {
    const uint8_t refused = slot.state.refusals() > 0 ? slot.state.refusals() - 1 : 0;
    return static_cast<uint8_t>(kDelayed + level(refused));
  }
  if (slot.state.has_arrived()) return static_cast<uint8_t>(kSacked + level(slot.state.timeouts()));
  if (slot.state.timeouts() > 0) {
    return static_cast<uint8_t>(kRetried + level(slot.state.timeouts() - 1));
  }
  return of_path(slot);
}

void TxWindow::settle(Psn psn) {
  const uint32_t at = index(psn);
  TxSlot& slot = slots()[at];
  if (slot.state.has_arrived() != slot.counted_arrived) {
    if (slot.state.has_arrived()) head_->arrivals.note(head_->queues, slots(), at, ring());
    slot.state.has_arrived() ? head_->arrivals.add() : head_->arrivals.remove();
    slot.counted_arrived = slot.state.has_arrived();
  }
  if (slot.queue != TxSlot::kNoQueue) leave_queue(at);
  const uint8_t queue = TxQueue::of(slot);
  if (queue != TxSlot::kNoQueue) head_->queues.add(slots(), at, queue);
  if (slot.state.is_quiet() && psn.before(head_->quiet_from)) head_->quiet_from = psn;
}

void TxWindow::set_aside(Psn psn) {
  const uint32_t at = index(psn);
  if (!has_aside() || psn.before(head_->aside_from)) head_->aside_from = psn;
  leave_queue(at);
  head_->queues.add(slots(), at, TxQueue::kAside);
}

// The oldest packet of the window and of its queue is answered, as nearly always: nothing was sent
// before it that its arrival could have passed. False: it is another one.
bool TxWindow::complete_oldest(TxSlot& slot, uint32_t at) {
  const uint8_t queue = slot.queue;
  if (queue >= TxQueue::kPaths || head_->queues.first(queue) != at || slot.state.was_resent()) {
    return false;
  }
  Arrivals& arrivals = head_->arrivals;
  arrivals.note_newest(slot.sent_tick());
  if (arrivals.has_passed(queue) && arrivals.passed_to(queue) == at) arrivals.forget_passed(queue);
  head_->queues.remove_first(slots(), slot, at, queue);
  slot.counted_arrived = true;
  slot.state.answer();
  ++base_;
  return true;
}

void TxWindow::complete(Psn psn) {
  const uint32_t at = index(psn);
  TxSlot& slot = slots()[at];
  if (psn == base_ && !slot.counted_arrived && complete_oldest(slot, at)) {
    if (head_->arrivals.count() != 0) pass_answered();
    return;
  }
  if (!slot.counted_arrived) {
    head_->arrivals.note(head_->queues, slots(), at, ring());
    head_->arrivals.add();
    slot.counted_arrived = true;
  }
  if (slot.queue != TxSlot::kNoQueue) leave_queue(at);
  slot.state.answer();
  pass_answered();
}

// Moves the base over slots that are answered.
void TxWindow::pass_answered() {
  while (base_ != next_ && (*this)[base_].state.is_answered()) {
    head_->arrivals.remove();
    ++base_;
  }
}

void TxWindow::leave_queue(uint32_t at) {
  head_->arrivals.on_leaving(head_->queues, slots()[at], at);
  head_->queues.remove(slots(), at);
}

// --- Arrivals ---

void Arrivals::note(const TxQueues& queues, const TxSlot* all, uint32_t at, const Ring& ring) {
  const TxSlot& slot = all[at];
  if (slot.state.was_resent()) return;
  note_newest(slot.sent_tick());
  const uint8_t queue = slot.queue;
  if (queue >= TxQueue::kPaths || queues.first(queue) == at) return;
  if (has_passed(queue)) {
    // Two EVs share the queue: the first keeps it until the arrivals are looked at.
    if (by_[queue] != slot.ev) return;
    const uint16_t last = to_[queue];
    const int64_t ahead = TxSlot::ticks_between(all[slot.prev].sent_tick(), all[last].sent_tick());
    const bool is_later = ahead > 0 || (ahead == 0 && ring.is_before(last, slot.prev));
    if (!is_later) return;
  }
  passed_ |= uint32_t{1} << queue;
  to_[queue] = slot.prev;
  by_[queue] = slot.ev;
}

// --- TxWindow: what is due ---

bool TxWindow::next_asked(Psn& psn) const {
  if (head_ == nullptr || !head_->queues.has(TxQueue::kAsking)) return false;
  psn = psn_at(head_->queues.first(TxQueue::kAsking));
  return true;
}

bool TxWindow::oldest_quiet(Psn& psn) {
  if (head_ == nullptr) return false;
  Psn p = head_->quiet_from;
  if (p.before(base_)) p = base_;
  while (p.before(next_) && !((*this)[p].state.is_quiet() && !(*this)[p].state.is_answered())) ++p;
  head_->quiet_from = psn = p;
  return p.before(next_);
}

}  // namespace uet::pds
