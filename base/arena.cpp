// Block handling of the start-up arena.
#include "base/arena.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace uet {

namespace {

constexpr size_t kAlignMax = 4096;
// Blocks begin on a cache line, so that padding inside them does not depend on the heap.
constexpr size_t kBlockAlign = 64;

constexpr uintptr_t align_up(uintptr_t at, size_t align) { return (at + align - 1) & ~(align - 1); }

}  // namespace

Arena::~Arena() {
  for (Cleanup* c = cleanups_; c != nullptr; c = c->next) c->destroy(c->object);
  while (blocks_ != nullptr) {
    Block* const next = blocks_->next;
    std::free(blocks_->memory);
    blocks_ = next;
  }
}

void* Arena::allocate(size_t bytes, size_t align) {
  UET_ASSERT(!is_sealed_);
  UET_ASSERT(std::has_single_bit(align) && align <= kAlignMax);
  // Half the address space: keeps every sum below from wrapping.
  if (bytes > SIZE_MAX / 2) return nullptr;

  uintptr_t at = align_up(cursor_, align);
  if (blocks_ == nullptr || at > limit_ || bytes > limit_ - at) {
    if (!add_block(bytes, align)) return nullptr;
    at = align_up(cursor_, align);
  }
  UET_ASSERT(at + bytes <= limit_);
  used_bytes_ += at + bytes - cursor_;
  cursor_ = at + bytes;
  return reinterpret_cast<void*>(at);
}

bool Arena::add_block(size_t bytes, size_t align) {
  const size_t total = std::max(block_bytes_, bytes + align + sizeof(Block));
  void* const memory =
      std::calloc(total + kBlockAlign, 1);  // fresh pages of the system are zero untouched
  if (memory == nullptr) return false;
  const uintptr_t first = align_up(reinterpret_cast<uintptr_t>(memory), kBlockAlign);
  blocks_ = new (reinterpret_cast<void*>(first)) Block{blocks_, memory};
  cursor_ = first + sizeof(Block);
  limit_ = first + total;
  reserved_bytes_ += total;
  return true;
}

}  // namespace uet
