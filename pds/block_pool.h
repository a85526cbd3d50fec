// Equal blocks of raw memory, given out and taken back: the memory of windows and reorder buffers.
// Unlike a Slab it builds no objects and gives no handles. Memory comes in chunks, when more blocks
// are out than ever before.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "base/result.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace uet::pds {

class BlockPool {
 public:
  static constexpr size_t kAlign = 64;

  // Up to `count` blocks of `bytes` octets each, rounded up to cache lines; none is there before it
  // is taken. The arena must outlive this object.
  void create(Arena& arena, uint32_t count, size_t bytes) {
    UET_ASSERT(arena_ == nullptr && bytes > 0);
    arena_ = &arena;
    bytes_ = (bytes + kAlign - 1) / kAlign * kAlign;
    count_ = count;
  }

  // A block, or null when all blocks are in use or there is no memory. The block keeps the contents
  // that the last user wrote.
  [[nodiscard]] void* take() {
    if (!can_take()) return nullptr;
    ++in_use_;
    if (free_ != nullptr) {
      Link* const link = free_;
      free_ = link->next;
      return link;
    }
    --chunk_left_;
    std::byte* const block = chunk_;
    chunk_ += bytes_;
    if (bytes_ <= kPageBytes) write_first(block, bytes_);
    return block;
  }

  void give(void* block) {
    UET_ASSERT(in_use_ > 0);
    auto* const link = static_cast<Link*>(block);
    link->next = free_;
    free_ = link;
    --in_use_;
  }

  // The next take() gives a block.
  [[nodiscard]] bool can_take() { return free_ != nullptr || chunk_left_ != 0 || add_chunk(); }
  uint32_t in_use() const { return in_use_; }
  uint64_t in_use_bytes() const { return uint64_t{in_use_} * bytes_; }
  size_t block_bytes() const { return bytes_; }

 private:
  struct Link {
    Link* next;
  };
  static constexpr size_t kChunkBytes = 16 * 1024;

  // A chunk has an eighth of the present blocks: few chunks, and little unused memory.
  bool add_chunk() {
    const auto least = static_cast<uint32_t>(std::max<size_t>(kChunkBytes / bytes_, 1));
    const uint32_t blocks = std::min(std::max(made_ / 8, least), count_ - made_);
    if (blocks == 0) return false;
    chunk_ = static_cast<std::byte*>(arena_->allocate(bytes_ * blocks, kAlign));
    if (chunk_ == nullptr) return false;
    chunk_left_ = blocks;
    made_ += blocks;
    return true;
  }

  Arena* arena_ = nullptr;
  std::byte* chunk_ = nullptr;  // blocks never given out
  Link* free_ = nullptr;
  size_t bytes_ = 0;
  uint32_t chunk_left_ = 0;
  uint32_t count_ = 0;  // blocks at most
  uint32_t made_ = 0;   // blocks that there is memory for
  uint32_t in_use_ = 0;
};

}  // namespace uet::pds
