// TxWindow, its pool, and RxWindow.
#include "pds/psn_window.h"

#include "base/assert.h"

#include <algorithm>
#include <bit>
#include <new>

namespace uet::pds {

// --- TxPool ---

void TxPool::create(Arena& arena, uint32_t max_pdcs) {
  // Every PDC can have the smallest block; the larger ones are for the few that are busy.
  constexpr uint32_t kShare[kSizes] = {1, 2, 4, 16, 64};
  for (uint32_t i = 0; i < kSizes; ++i) {
    const uint32_t count = std::max(max_pdcs / kShare[i], 4u);
    pools_[i].create(arena, count, sizeof(TxSlot) * kSlots[i]);
  }
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

uint64_t TxPool::in_use_bytes() const {
  uint64_t n = 0;
  for (const BlockPool& p : pools_) n += p.in_use_bytes();
  return n;
}

// --- TxWindow ---

void TxWindow::start(Psn first) {
  UET_ASSERT(slots_ == nullptr);
  origin_ = base_ = next_ = first;
}

void TxWindow::release(TxPool& pool) {
  UET_ASSERT(empty());
  pool.give(slots_, capacity_);
  slots_ = nullptr;
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
  TxSlot* const block = pool.take(used + 1, got);
  if (block == nullptr) return false;
  for (uint32_t i = 0; i < used; ++i) new (&block[i]) TxSlot(slots_[index(base_ + i)]);
  if (slots_ != nullptr) pool.give(slots_, capacity_);
  slots_ = block;
  capacity_ = got;
  origin_ = base_;
  return true;
}

TxSlot& TxWindow::push() {
  UET_ASSERT(size() < capacity_);
  if (empty()) origin_ = next_;
  TxSlot* const slot = new (&slots_[index(next_)]) TxSlot;
  ++next_;
  return *slot;
}

void TxWindow::rebase(int32_t delta) {
  origin_ = origin_ + delta;  // so that every slot keeps its place
  base_ = base_ + delta;
  next_ = next_ + delta;
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
  static_assert(sizeof(Bitmaps) % alignof(uint64_t) == 0);
  return sizeof(Bitmaps) + size_t{3} * words_per_bitmap(range_packets) * sizeof(uint64_t);
}

void RxWindow::start(Psn first, uint32_t range_packets) {
  UET_ASSERT(bitmaps_ == nullptr);
  base_ = first;
  max_received_ = first - 1;
  range_ = range_packets;
}

void RxWindow::take_bitmaps(BlockPool& pool) {
  void* const block = pool.take();
  UET_ASSERT(block != nullptr);  // may_accept() was asked
  bitmaps_ = new (block) Bitmaps;
  auto* const words = reinterpret_cast<uint64_t*>(bitmaps_ + 1);
  const uint32_t count = words_per_bitmap(range_);
  bitmaps_->received.attach({words, count});
  bitmaps_->held.attach({words + count, count});
  bitmaps_->answer.attach({words + 2 * size_t{count}, count});
}

void RxWindow::release(BlockPool& pool) {
  if (bitmaps_ == nullptr) return;
  pool.give(bitmaps_);
  bitmaps_ = nullptr;
}

Arrival RxWindow::classify(Psn psn) const {
  const int32_t distance = psn - base_;
  if (distance < -32768) return Arrival::too_old;
  if (distance < 0) return Arrival::dup_below;
  if (static_cast<uint32_t>(distance) >= range_) return Arrival::beyond_range;
  return received(psn) ? Arrival::dup_window : Arrival::fresh;
}

void RxWindow::accept(BlockPool& pool, Psn psn, bool held) {
  if (bitmaps_ == nullptr && psn == base_ && !held) {
    max_received_ = psn;
    ++base_;
    return;
  }
  if (bitmaps_ == nullptr) take_bitmaps(pool);
  UET_ASSERT(contains(psn) && !bitmaps_->received.test(offset(psn)));
  bitmaps_->received.set(offset(psn));
  if (held) bitmaps_->held.set(offset(psn));
  if (psn.after(max_received_)) max_received_ = psn;
  advance(pool);
}

void RxWindow::unhold(BlockPool& pool, Psn psn) {
  if (!contains(psn)) return;
  bitmaps_->held.clear(offset(psn));
  advance(pool);
}

void RxWindow::forget(Psn psn) {
  UET_ASSERT(contains(psn));
  bitmaps_->received.clear(offset(psn));
  bitmaps_->held.clear(offset(psn));
  bitmaps_->answer.clear(offset(psn));
}

void RxWindow::advance(BlockPool& pool) {
  RingBitmap& received = bitmaps_->received;
  if (!received.test(0)) return;
  const uint32_t run = std::min(received.leading_ones(), bitmaps_->held.find_first_set());
  if (run == 0) return;
  received.advance(run);
  bitmaps_->held.advance(run);
  bitmaps_->answer.advance(run);
  base_ = base_ + run;
  if (!has_above()) release(pool);
}

bool RxWindow::all_received_below(Psn psn) const {
  if (!psn.after(base_)) return true;
  if (!contains(psn - 1)) return false;
  return bitmaps_->received.find_first_zero() >= offset(psn);
}

uint64_t RxWindow::bits64(Psn from) const {
  const int32_t distance = from - base_;
  uint64_t bits = bitmaps_ == nullptr ? 0 : bitmaps_->received.extract64(distance);
  if (distance < 0) {
    const uint32_t known = static_cast<uint32_t>(-distance);
    bits |= known >= 64 ? ~uint64_t{0} : (uint64_t{1} << known) - 1;
  }
  return bits;
}

void RxWindow::want_answer(Psn psn) {
  if (!contains(psn) || bitmaps_->answer.test(offset(psn))) return;
  bitmaps_->answer.set(offset(psn));
  ++bitmaps_->answers;
}

bool RxWindow::take_answer(Psn& psn) {
  if (bitmaps_ == nullptr || bitmaps_->answers == 0) return false;
  RingBitmap& answer = bitmaps_->answer;
  const uint32_t at = answer.find_first_set();
  if (at >= answer.size()) {
    bitmaps_->answers = 0;
    return false;
  }
  answer.clear(at);
  --bitmaps_->answers;
  psn = base_ + at;
  return true;
}

}  // namespace uet::pds
