// The bitmaps of the receive window.
#include "pds/rx/rx_window.h"

#include "base/assert.h"

#include <algorithm>
#include <bit>
#include <new>

namespace uet::pds {

namespace {
uint32_t words_per_bitmap(uint32_t range_packets) {
  return std::bit_ceil(std::max(range_packets, 64u)) / 64;
}
}  // namespace

size_t RxWindow::block_bytes(uint32_t range_packets) {
  static_assert(sizeof(Bitmaps) % alignof(uint64_t) == 0);
  return sizeof(Bitmaps) + size_t{2} * words_per_bitmap(range_packets) * sizeof(uint64_t);
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
}

void RxWindow::advance(BlockPool& pool) {
  RingBitmap& received = bitmaps_->received;
  if (!received.test(0)) return;
  const uint32_t run = std::min(received.leading_ones(), bitmaps_->held.find_first_set());
  if (run == 0) return;
  received.advance(run);
  bitmaps_->held.advance(run);
  base_ = base_ + run;
  if (!has_above()) release(pool);
}

bool RxWindow::find_held_below(Psn& psn) const {
  if (bitmaps_ == nullptr || !psn.after(base_)) return false;
  const int32_t below = bitmaps_->held.highest_set(offset(psn));
  if (below >= 0) psn = base_ + int64_t{below};
  return below >= 0;
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

}  // namespace uet::pds
