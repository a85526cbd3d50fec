// Memory lent to the stack, with guard octets on both sides: writes beyond it are detected in every
// build. Its owner decides its contents.
#pragma once

#include "base/assert.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace uet::fuzz {

// The octets that operation or region `id` carries.
inline std::byte octet(uint32_t id, uint64_t at) {
  return static_cast<std::byte>((id * 131u + static_cast<uint32_t>(at) * 7u + (at >> 8)) & 0xff);
}

class Room {
 public:
  static constexpr std::byte kUntouched{0xB5};

  Room() = default;
  explicit Room(uint32_t bytes)
      : bytes_(bytes), memory_(std::make_unique<std::byte[]>(bytes + 2 * kGuard)) {
    std::fill_n(memory_.get(), bytes + 2 * kGuard, kUntouched);
  }

  std::span<std::byte> octets() const { return {memory_.get() + kGuard, bytes_}; }
  uint32_t size() const { return bytes_; }
  bool is_released() const { return memory_ == nullptr; }

  void fill(uint32_t id) {
    for (uint32_t i = 0; i < bytes_; ++i) octets()[i] = octet(id, i);
  }
  // Whether `count` octets from `at` on are those of `id`, as from its octet `first` on.
  bool holds(uint32_t id, uint64_t at, uint64_t count, uint64_t first) const {
    UET_ASSERT(at <= bytes_ && count <= bytes_ - at);
    for (uint64_t i = 0; i < count; ++i) {
      if (octets()[at + i] != octet(id, first + i)) return false;
    }
    return true;
  }
  bool is_untouched_from(uint64_t at) const {
    const std::span<std::byte> all = octets();
    return std::all_of(all.begin() + static_cast<ptrdiff_t>(at), all.end(),
                       [](std::byte b) { return b == kUntouched; });
  }
  void check_guards() const {
    if (is_released()) return;
    for (uint32_t i = 0; i < kGuard; ++i) {
      UET_ASSERT(memory_[i] == kUntouched);
      UET_ASSERT(memory_[kGuard + bytes_ + i] == kUntouched);
    }
  }
  // Frees the memory: from here on a sanitizer reports each access to it.
  void release() { memory_.reset(); }

 private:
  static constexpr uint32_t kGuard = 16;

  uint32_t bytes_ = 0;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace uet::fuzz
