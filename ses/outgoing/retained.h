// Owns the payloads of an endpoint's sends that were reported as done when they were copied, until
// the peer has them: a few MiB of buffers of three lengths, taken with the first payload. Payloads
// as short as the operands of an atomic are in the InjectStore, where all operations have room.
#pragma once

#include "base/arena.h"
#include "base/assert.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace uet::ses {

inline constexpr uint32_t kRetainBytes = 64 * 1024;  // of one payload at most [LF-136]

// Buffers of one length, beside each other.
struct BufferClass {
  uint32_t bytes;
  uint32_t count;
  constexpr uint64_t total() const { return uint64_t{bytes} * count; }
};
inline constexpr std::array<BufferClass, 3> kBufferClasses{
    {{4096, 128}, {16384, 64}, {kRetainBytes, 32}}};

class RetainedPayloads {
 public:
  // A buffer of `bytes` or more, at most kRetainBytes; null when none is free. Takes the memory of
  // all buffers from `arena` at the first call. O(1).
  std::byte* take(Arena& arena, uint64_t bytes) {
    UET_ASSERT(bytes <= kRetainBytes);
    if (memory_ == nullptr && !take_memory(arena)) return nullptr;
    for (uint32_t i = 0; i < kBufferClasses.size(); ++i) {
      if (bytes > kBufferClasses[i].bytes) continue;
      if (std::byte* const buffer = take_buffer(i)) {
        ++taken_;
        return buffer;
      }
    }
    return nullptr;
  }

  // Takes back what take() gave.
  void give_back(std::byte* buffer) {
    auto offset = static_cast<uint64_t>(buffer - memory_);
    UET_ASSERT(offset < kBytes && taken_ > 0);
    --taken_;
    uint32_t i = 0;
    for (; offset >= kBufferClasses[i].total(); ++i) offset -= kBufferClasses[i].total();
    auto* const freed = reinterpret_cast<Free*>(buffer);
    freed->next = free_[i];
    free_[i] = freed;
  }

  // More than half of the buffers are taken: posts may soon find none.
  bool is_scarce() const { return taken_ > kBuffers / 2; }

 private:
  struct Free {
    Free* next;
  };
  static constexpr uint64_t kBytes =
      kBufferClasses[0].total() + kBufferClasses[1].total() + kBufferClasses[2].total();
  static_assert(kBytes <= 4 * 1024 * 1024);
  static constexpr uint32_t kBuffers =
      kBufferClasses[0].count + kBufferClasses[1].count + kBufferClasses[2].count;

  bool take_memory(Arena& arena) {
    memory_ = static_cast<std::byte*>(arena.allocate(kBytes, 64));
    return memory_ != nullptr;
  }

  // The buffer that was freed last, which is in the cache; else one that was never touched.
  std::byte* take_buffer(uint32_t i) {
    if (Free* const freed = free_[i]) {
      free_[i] = freed->next;
      return reinterpret_cast<std::byte*>(freed);
    }
    if (used_[i] == kBufferClasses[i].count) return nullptr;
    uint64_t offset = uint64_t{kBufferClasses[i].bytes} * used_[i]++;
    for (uint32_t before = 0; before < i; ++before) offset += kBufferClasses[before].total();
    return memory_ + offset;
  }

  std::byte* memory_ = nullptr;
  uint32_t taken_ = 0;  // buffers
  std::array<Free*, kBufferClasses.size()> free_{};
  std::array<uint32_t, kBufferClasses.size()> used_{};  // buffers that were ever taken
};

}  // namespace uet::ses
