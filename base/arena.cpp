// Block handling of the start-up arena.
#include "base/arena.h"

#include <algorithm>
#include <bit>

namespace uet {

namespace {

constexpr size_t kAlignMax = 4096;
// Blocks begin on a cache line, so that padding inside them does not depend on the heap.
constexpr std::align_val_t kBlockAlign{64};

constexpr uintptr_t align_up(uintptr_t at, size_t align) { return (at + align - 1) & ~(align - 1); }

}  // namespace

Arena::~Arena() {
  for (Cleanup* c = cleanups_; c != nullptr; c = c->next) c->destroy(c->object);
  while (blocks_ != nullptr) {
    Block* const next = blocks_->next;
    ::operator delete(blocks_, kBlockAlign);
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
  void* const memory = ::operator new(total, kBlockAlign, std::nothrow);
  if (memory == nullptr) return false;
  blocks_ = new (memory) Block{blocks_};
  cursor_ = reinterpret_cast<uintptr_t>(memory) + sizeof(Block);
  limit_ = reinterpret_cast<uintptr_t>(memory) + total;
  reserved_bytes_ += total;
  return true;
}

}  // namespace uet
