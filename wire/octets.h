// Big-endian loads and stores of whole words, and the bit fields inside them. [WIRE-001]
// No bounds are checked here: Reader and Writer hand out the pointers.
#pragma once

#include "base/assert.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace uet::wire {

inline uint8_t load_u8(const std::byte* p) { return static_cast<uint8_t>(*p); }

inline uint16_t load_u16(const std::byte* p) {
  uint16_t v;
  std::memcpy(&v, p, sizeof v);
  if constexpr (std::endian::native == std::endian::little) v = __builtin_bswap16(v);
  return v;
}

inline uint32_t load_u32(const std::byte* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  if constexpr (std::endian::native == std::endian::little) v = __builtin_bswap32(v);
  return v;
}

inline uint64_t load_u64(const std::byte* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  if constexpr (std::endian::native == std::endian::little) v = __builtin_bswap64(v);
  return v;
}

inline void store_u8(std::byte* p, uint8_t v) { *p = static_cast<std::byte>(v); }

inline void store_u16(std::byte* p, uint16_t v) {
  if constexpr (std::endian::native == std::endian::little) v = __builtin_bswap16(v);
  std::memcpy(p, &v, sizeof v);
}

inline void store_u32(std::byte* p, uint32_t v) {
  if constexpr (std::endian::native == std::endian::little) v = __builtin_bswap32(v);
  std::memcpy(p, &v, sizeof v);
}

inline void store_u64(std::byte* p, uint64_t v) {
  if constexpr (std::endian::native == std::endian::little) v = __builtin_bswap64(v);
  std::memcpy(p, &v, sizeof v);
}

// The `width` bits of `word` from bit `shift` on.
template <class T>
constexpr T bits(uint64_t word, unsigned shift, unsigned width) {
  const uint64_t mask = width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  return static_cast<T>((word >> shift) & mask);
}

constexpr bool bit(uint64_t word, unsigned shift) { return ((word >> shift) & 1U) != 0; }

// The reverse of bits(). A value too wide for its field is a mistake of the caller, so it asserts.
constexpr uint64_t put(uint64_t value, unsigned shift, unsigned width) {
  UET_ASSERT(width >= 64 || value >> width == 0);
  return value << shift;
}

constexpr uint64_t put(bool value, unsigned shift) { return uint64_t{value} << shift; }

}  // namespace uet::wire
