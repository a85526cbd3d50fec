// TxWindow, its pool, and RxWindow.
#include "pds/psn_window.h"

#include "base/assert.h"

#include <algorithm>
#include <bit>
#include <new>

namespace uet::pds {

// --- TxPool ---

Result<void> TxPool::create(Arena& arena, uint32_t max_pdcs) {
  // Every PDC can have the smallest block; the larger ones are for the few that are busy.
  uint32_t count = max_pdcs;
  for (uint32_t i = 0; i < kSizes; ++i) {
    UET_CHECK(pools_[i].create(arena, std::max(count, 4u), sizeof(TxSlot) * kSlots[i]));
    count /= 4;
  }
  return {};
}

TxSlot* TxPool::take(uint32_t slots, uint32_t& got) {
  for (uint32_t i = 0; i < kSizes; ++i) {
    if (kSlots[i] < slots) continue;
    if (void* const block = pools_[i].take()) {
      got = kSlots[i];
      return static_cast<TxSlot*>(block);
    }
  }
  return nullptr;
}

void TxPool::give(TxSlot* block, uint32_t slots) {
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

// --- TxWindow ---

void TxWindow::start(Psn first) {
  UET_ASSERT(slots_ == nullptr);
  base_ = next_ = first;
}

void TxWindow::release(TxPool& pool) {
  UET_ASSERT(empty());
  if (slots_ == nullptr) return;
  pool.give(slots_, capacity_);
  slots_ = nullptr;
  capacity_ = 0;
}

void TxWindow::abandon(TxPool& pool) {
  base_ = next_;
  release(pool);
}

bool TxWindow::reserve(TxPool& pool) {
  const uint32_t used = size();
  if (used < capacity_) return true;
  uint32_t got = 0;
  TxSlot* const block = pool.take(used + 1, got);
  if (block == nullptr) return false;
  for (Psn p = base_; p != next_; ++p) {
    new (&block[p.value() & (got - 1)]) TxSlot(slots_[p.value() & (capacity_ - 1)]);
  }
  if (slots_ != nullptr) pool.give(slots_, capacity_);
  slots_ = block;
  capacity_ = got;
  return true;
}

TxSlot& TxWindow::push() {
  UET_ASSERT(size() < capacity_);
  TxSlot* const slot = new (&slots_[next_.value() & (capacity_ - 1)]) TxSlot;
  ++next_;
  return *slot;
}

void TxWindow::complete(Psn psn) {
  (*this)[psn].done = true;
  while (base_ != next_ && (*this)[base_].done) ++base_;
}

// --- RxWindow ---

namespace {
uint32_t words_per_bitmap(uint32_t range_packets) {
  return std::bit_ceil(std::max(range_packets, 64u)) / 64;
}
}  // namespace

size_t RxWindow::block_bytes(uint32_t range_packets) {
  return size_t{3} * words_per_bitmap(range_packets) * sizeof(uint64_t);
}

void RxWindow::start(Psn first, uint32_t range_packets) {
  UET_ASSERT(block_ == nullptr);
  base_ = first;
  max_received_ = first - 1;
  range_ = range_packets;
  answers_ = 0;
}

bool RxWindow::reserve(BlockPool& pool) {
  if (block_ != nullptr) return true;
  block_ = pool.take();
  if (block_ == nullptr) return false;
  const uint32_t words = words_per_bitmap(range_);
  auto* const memory = static_cast<uint64_t*>(block_);
  received_.attach({memory, words});
  held_.attach({memory + words, words});
  answer_.attach({memory + 2 * size_t{words}, words});
  return true;
}

void RxWindow::release(BlockPool& pool) {
  if (block_ == nullptr) return;
  pool.give(block_);
  block_ = nullptr;
}

Arrival RxWindow::classify(Psn psn) const {
  const int32_t distance = psn - base_;
  if (distance < -32768) return Arrival::too_old;
  if (distance < 0) return Arrival::dup_below;
  if (static_cast<uint32_t>(distance) >= range_) return Arrival::beyond_range;
  return received(psn) ? Arrival::dup_window : Arrival::fresh;
}

void RxWindow::accept(Psn psn, bool held) {
  UET_ASSERT(contains(psn) && !received_.test(offset(psn)));
  received_.set(offset(psn));
  if (held) held_.set(offset(psn));
  if (psn.after(max_received_)) max_received_ = psn;
  advance();
}

void RxWindow::unhold(Psn psn) {
  if (!contains(psn)) return;
  held_.clear(offset(psn));
  advance();
}

void RxWindow::forget(Psn psn) {
  UET_ASSERT(contains(psn));
  received_.clear(offset(psn));
  held_.clear(offset(psn));
  answer_.clear(offset(psn));
}

void RxWindow::advance() {
  if (!received_.test(0)) return;
  const uint32_t held = held_.find_first_set();
  const uint32_t run = std::min(received_.leading_ones(), held);
  if (run == 0) return;
  received_.advance(run);
  held_.advance(run);
  answer_.advance(run);
  base_ = base_ + run;
}

bool RxWindow::all_received_below(Psn psn) const {
  if (!psn.after(base_)) return true;
  if (!contains(psn - 1)) return false;
  return received_.find_first_zero() >= offset(psn);
}

uint64_t RxWindow::bits64(Psn from) const {
  const int32_t distance = from - base_;
  uint64_t bits = block_ == nullptr ? 0 : received_.extract64(distance);
  if (distance < 0) {
    const uint32_t known = static_cast<uint32_t>(-distance);
    bits |= known >= 64 ? ~uint64_t{0} : (uint64_t{1} << known) - 1;
  }
  return bits;
}

void RxWindow::want_answer(Psn psn) {
  if (!contains(psn) || answer_.test(offset(psn))) return;
  answer_.set(offset(psn));
  ++answers_;
}

bool RxWindow::take_answer(Psn& psn) {
  if (answers_ == 0) return false;
  const uint32_t at = answer_.find_first_set();
  if (at >= answer_.size()) {
    answers_ = 0;
    return false;
  }
  answer_.clear(at);
  --answers_;
  psn = base_ + at;
  return true;
}

}  // namespace uet::pds
