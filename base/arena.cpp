// Block handling of the arena.
#include "base/arena.h"

#include <algorithm>
#include <bit>

namespace uet {

namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kLargeBlocks = 16;  // small blocks that a block of large arrays is worth
constexpr size_t kGrowthMost = size_t{32} << 20;

constexpr size_t align_up(size_t at, size_t align) { return (at + align - 1) & ~(align - 1); }

}  // namespace

Arena::~Arena() {
  for (Cleanup* c = cleanups_; c != nullptr; c = c->next) c->destroy(c->object);
  while (guards_ != nullptr) {
    allow_use(guards_, kGuardBytes);
    guards_ = guards_->next;
  }
  // Latest first, too: the record of a block stands in itself or in an older one.
  while (blocks_ != nullptr) {
    const Block block = *blocks_;
    release_zero_pages(block.memory, block.bytes);
    blocks_ = block.next;
  }
}

void* Arena::allocate(size_t bytes, size_t align) {
  void* const memory = reserve(bytes, align);
  if (memory != nullptr) note_use(bytes);
  return memory;
}

void* Arena::reserve(size_t bytes, size_t align) {
  // A large array begins on a cache line, so that it shares no line with another array.
  return bytes < kLargeBytes ? take(small_, bytes, align)
                             : take(large_, bytes, std::max(align, kCacheLine));
}

void* Arena::reserve_apart(size_t bytes) {
  UET_ASSERT(!is_sealed_);
  if (bytes > SIZE_MAX / 2) return nullptr;
  void* const record = take(objects_, sizeof(Block), alignof(Block));
  if (record == nullptr) return nullptr;
  const size_t total = align_up(bytes, kPageBytes);
  void* const memory = reserve_addresses(total);
  if (memory == nullptr) return nullptr;
  blocks_ = new (record) Block{blocks_, memory, total};
  reserved_bytes_ += total;
  return memory;
}

bool Arena::commit(void* first, size_t from, size_t until) {
  const size_t start = from / kPageBytes * kPageBytes;
  return commit_zero_pages(static_cast<std::byte*>(first) + start,
                           align_up(until, kPageBytes) - start);
}

void* Arena::take(Area& area, size_t bytes, size_t align) {
  UET_ASSERT(!is_sealed_);
  UET_ASSERT(std::has_single_bit(align) && align <= kPageBytes);
  // Half the address space: keeps every sum below from wrapping.
  if (bytes > SIZE_MAX / 2) return nullptr;
  if (kGuardBytes != 0) align = std::max(align, alignof(Guard));

  const uintptr_t at = align_up(area.cursor + kGuardBytes, align);
  if (area.limit == 0 || at > area.limit || bytes > area.limit - at) {
    return take_from_new_block(area, bytes, align);
  }
  area.cursor = at + bytes;
  return guarded(at);
}

void* Arena::take_from_new_block(Area& area, size_t bytes, size_t align) {
  Area fresh = add_block(area, bytes, align);
  if (fresh.limit == 0) return nullptr;
  const uintptr_t at = align_up(fresh.cursor + kGuardBytes, align);
  UET_ASSERT(at + bytes <= fresh.limit);
  fresh.cursor = at + bytes;
  // The next ones come from the block with more room.
  if (fresh.limit - fresh.cursor >= area.limit - area.cursor) area = fresh;
  return guarded(at);
}

void* Arena::guarded(uintptr_t at) {
  if constexpr (kGuardBytes != 0) {
    guards_ = new (reinterpret_cast<void*>(at - kGuardBytes)) Guard{guards_};
    forbid_use(guards_, kGuardBytes);
  }
  return reinterpret_cast<void*>(at);
}

// A block with room for `bytes`; an area with limit 0 if there is no memory.
Arena::Area Arena::add_block(const Area& area, size_t bytes, size_t align) {
  // Blocks of arrays are not touched here: their records stand among the objects.
  const bool is_own = &area == &objects_;
  void* const record = is_own ? nullptr : take(objects_, sizeof(Block), alignof(Block));
  if (!is_own && record == nullptr) return {};
  // A new block has half the size of all present ones: few blocks, and little unused memory in
  // them.
  const size_t usual = &area != &large_ ? block_bytes_
                                        : std::max(block_bytes_ * kLargeBlocks,
                                                   std::min(reserved_bytes_ / 2, kGrowthMost));
  // It begins on a page.
  const size_t wanted = bytes + (is_own ? align + sizeof(Block) : 0) + align_up(kGuardBytes, align);
  const size_t total = align_up(std::max(usual, wanted), kPageBytes);
  void* const memory = reserve_zero_pages(total);
  if (memory == nullptr) return {};
  const auto first = reinterpret_cast<uintptr_t>(memory);
  blocks_ = new (is_own ? memory : record) Block{blocks_, memory, total};
  reserved_bytes_ += total;
  return {is_own ? first + sizeof(Block) : first, first + total};
}

}  // namespace uet
