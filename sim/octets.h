// The octets that an operation of a run carries, known from its id alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace uet::sim {

inline std::byte octet(uint32_t id, uint64_t at) {
  return static_cast<std::byte>((id * 131u + static_cast<uint32_t>(at) * 7u + (at >> 8)) & 0xff);
}

inline void fill(std::vector<std::byte>& memory, uint32_t id) {
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = octet(id, i);
}

inline bool holds(const std::byte* memory, uint64_t bytes, uint32_t id) {
  for (uint64_t i = 0; i < bytes; ++i) {
    if (memory[i] != octet(id, i)) return false;
  }
  return true;
}

}  // namespace uet::sim
