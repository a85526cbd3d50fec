// The slots of the send window and their queues.
#include "pds/tx/tx_window.h"

#include "base/assert.h"

#include <algorithm>
#include <new>

namespace uet::pds {

void TxWindow::start(Psn first) {
  UET_ASSERT(!memory_.is_held());
  base_ = next_ = first;
  memory_.set_origin(first);
}

void TxWindow::abandon(TxPool& pool) {
  base_ = next_;
  release_if_empty(pool);
}

TxSlot& TxWindow::push() {
  UET_ASSERT(size() < memory_.capacity());
  if (empty()) {
    memory_->start(next_);
    memory_.set_origin(next_);
  }
  TxSlot* const slot = new (&memory_.slot(next_)) TxSlot;
  ++next_;
  return *slot;
}

void TxWindow::rebase(int32_t delta) {
  memory_.set_origin(memory_.origin() + delta);  // so that every slot keeps its place
  base_ = base_ + delta;
  next_ = next_ + delta;
  if (!memory_.is_held()) return;
  memory_->judgement.clear(base_);
  memory_->quiet_from = memory_->aside_from = base_;
}

TxSlot* TxWindow::recent(Psn psn) {
  if (!memory_.is_held() || !psn.before(next_) || psn.before(memory_.origin())) return nullptr;
  if (static_cast<uint32_t>(next_ - psn) > memory_.capacity()) return nullptr;
  return &memory_.slot(psn);
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

void TxWindow::requeue(Psn psn) {
  const uint32_t at = memory_.index(psn);
  TxSlot& slot = memory_.slots()[at];
  if (slot.state.has_arrived() != slot.counted_arrived) {
    if (slot.state.has_arrived())
      memory_->arrivals.note(memory_->queues, memory_.slots(), at, memory_.ring(base_));
    slot.state.has_arrived() ? memory_->arrivals.add() : memory_->arrivals.remove();
    slot.counted_arrived = slot.state.has_arrived();
  }
  if (slot.queue != TxSlot::kNoQueue) memory_->leave_queue(memory_.slots(), at);
  const uint8_t queue = TxQueue::of(slot);
  if (queue != TxSlot::kNoQueue) memory_->queues.add(memory_.slots(), at, queue);
  if (slot.state.is_quiet() && psn.before(memory_->quiet_from)) memory_->quiet_from = psn;
}

void TxWindow::set_aside(Psn psn) {
  const uint32_t at = memory_.index(psn);
  if (!has_aside() || psn.before(memory_->aside_from)) memory_->aside_from = psn;
  memory_->leave_queue(memory_.slots(), at);
  memory_->queues.add(memory_.slots(), at, TxQueue::kAside);
}

void TxWindow::complete(Psn psn) {
  const uint32_t at = memory_.index(psn);
  TxSlot& slot = memory_.slots()[at];
  if (psn == base_ && !slot.counted_arrived && memory_->answer_oldest(memory_.slots(), at)) {
    ++base_;
    if (memory_->arrivals.count() != 0) pass_answered();
    return;
  }
  if (!slot.counted_arrived) {
    memory_->arrivals.note(memory_->queues, memory_.slots(), at, memory_.ring(base_));
    memory_->arrivals.add();
    slot.counted_arrived = true;
  }
  if (slot.queue != TxSlot::kNoQueue) memory_->leave_queue(memory_.slots(), at);
  slot.state.answer();
  pass_answered();
}

// Moves the base over slots that are answered.
void TxWindow::pass_answered() {
  while (base_ != next_ && (*this)[base_].state.is_answered()) {
    memory_->arrivals.remove();
    ++base_;
  }
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

// --- TxWindow: due slots ---

bool TxWindow::next_asked(Psn& psn) {
  if (!memory_.is_held() || !memory_->queues.has(TxQueue::kAsking)) return false;
  const bool is_base = (*this)[base_].state.is_ask_due();
  psn = is_base ? base_ : memory_.psn_at(memory_->queues.first(TxQueue::kAsking), base_);
  return true;
}

bool TxWindow::oldest_quiet(Psn& psn) {
  if (!memory_.is_held()) return false;
  Psn p = memory_->quiet_from;
  if (p.before(base_)) p = base_;
  while (p.before(next_) && !((*this)[p].state.is_quiet() && !(*this)[p].state.is_answered())) ++p;
  memory_->quiet_from = psn = p;
  return p.before(next_);
}

}  // namespace uet::pds
