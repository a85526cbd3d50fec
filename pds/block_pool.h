// Equal blocks of raw memory, given out and taken back: the memory of windows and reorder buffers.
// Unlike a Slab it builds no objects and gives no handles; blocks are not touched before use.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>

namespace uet::pds {

class BlockPool {
 public:
  static constexpr size_t kAlign = 64;

  // `count` blocks of `bytes` octets each, rounded up to cache lines. Errc::no_memory.
  Result<void> create(Arena& arena, uint32_t count, size_t bytes) {
    UET_ASSERT(memory_ == nullptr && bytes > 0);
    bytes_ = (bytes + kAlign - 1) / kAlign * kAlign;
    count_ = count;
    if (count == 0) return {};
    memory_ = static_cast<std::byte*>(arena.allocate(bytes_ * count, kAlign));
    if (memory_ == nullptr) return Errc::no_memory;
    return {};
  }

  // A block, or null when all are out. Contents are whatever the last user left.
  [[nodiscard]] void* take() {
    if (free_ != nullptr) {
      Link* const link = free_;
      free_ = link->next;
      ++in_use_;
      return link;
    }
    if (fresh_ == count_) return nullptr;
    ++in_use_;
    return memory_ + bytes_ * fresh_++;
  }

  void give(void* block) {
    UET_ASSERT(in_use_ > 0);
    auto* const link = static_cast<Link*>(block);
    link->next = free_;
    free_ = link;
    --in_use_;
  }

  bool exhausted() const { return in_use_ == count_; }
  uint32_t in_use() const { return in_use_; }
  uint64_t in_use_bytes() const { return uint64_t{in_use_} * bytes_; }
  size_t block_bytes() const { return bytes_; }

 private:
  struct Link {
    Link* next;
  };

  std::byte* memory_ = nullptr;
  Link* free_ = nullptr;
  size_t bytes_ = 0;
  uint32_t count_ = 0;
  uint32_t fresh_ = 0;  // blocks never given out: from this one on
  uint32_t in_use_ = 0;
};

}  // namespace uet::pds
