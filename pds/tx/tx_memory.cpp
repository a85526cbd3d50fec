// Blocks of slots, and how a window moves to a larger one.
#include "pds/tx/tx_memory.h"

#include "base/assert.h"

#include <algorithm>
#include <new>

namespace uet::pds {

void TxPool::create(Arena& arena, uint32_t max_pdcs) {
  // Every PDC can have the smallest block; the larger ones are for the few that are busy.
  constexpr uint32_t kShare[kSizes] = {1, 1, 2, 4, 16, 64};
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

bool TxMemory::grow(TxPool& pool, Psn base, uint32_t size) {
  uint32_t got = 0;
  TxHead* const block = pool.take(size + 1, got);
  if (block == nullptr) return false;
  if (is_held()) {
    copy_slots(*head_, index(base), size, capacity_ - 1, *block);
    pool.give(head_, capacity_);
  }
  head_ = block;
  capacity_ = got;
  origin_ = base;
  return true;
}

void TxMemory::release(TxPool& pool) {
  pool.give(head_, capacity_);
  head_ = nullptr;
  capacity_ = 0;
}

}  // namespace uet::pds
