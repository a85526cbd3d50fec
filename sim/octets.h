// The octets that an operation of a run carries, known from its id alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace uet::sim {

inline std::byte octet(uint32_t id, uint64_t at) {
  return static_cast<std::byte>((id * 131u + static_cast<uint32_t>(at) * 7u + (at >> 8)) & 0xff);
}

namespace octets_detail {

inline constexpr uint32_t kBlock = 256;
// Multiples of 7: each block of octets is a piece of them, since 7 has an inverse modulo 256.
inline constexpr std::array<std::byte, 2 * kBlock> kSevens = [] {
  std::array<std::byte, 2 * kBlock> all{};
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i * 7 & 0xff);
  return all;
}();
inline constexpr uint32_t kInverseOfSeven = 183;
static_assert((kInverseOfSeven * 7 & 0xff) == 1);

// Where the octets of a block, from number * kBlock on, begin in kSevens.
inline const std::byte* block(uint32_t id, uint64_t number) {
  const auto first = static_cast<uint32_t>(octet(id, number * kBlock));
  return kSevens.data() + (first * kInverseOfSeven & 0xff);
}

}  // namespace octets_detail

inline void fill(std::byte* memory, uint64_t bytes, uint32_t id) {
  using namespace octets_detail;
  for (uint64_t at = 0; at < bytes; at += kBlock) {
    std::memcpy(memory + at, block(id, at / kBlock), std::min<uint64_t>(kBlock, bytes - at));
  }
}

inline void fill(std::vector<std::byte>& memory, uint32_t id) {
  fill(memory.data(), memory.size(), id);
}

inline bool holds(const std::byte* memory, uint64_t bytes, uint32_t id) {
  using namespace octets_detail;
  for (uint64_t at = 0; at < bytes; at += kBlock) {
    const uint64_t count = std::min<uint64_t>(kBlock, bytes - at);
    if (std::memcmp(memory + at, block(id, at / kBlock), count) != 0) return false;
  }
  return true;
}

inline bool is_zero(const std::byte* memory, uint64_t bytes) {
  return bytes == 0 ||
         (memory[0] == std::byte{0} && std::memcmp(memory, memory + 1, bytes - 1) == 0);
}

}  // namespace uet::sim
