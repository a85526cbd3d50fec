// A cursor over received octets. It never reads past its end: a parser checks remaining() once per
// header, and the primitives assert that it did.
#pragma once

#include "wire/octets.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::wire {

// A view; the octets must outlive it. Copying a Reader marks a place to come back to.
class Reader {
 public:
  constexpr Reader() = default;
  constexpr explicit Reader(std::span<const std::byte> octets) : octets_(octets) {}

  // Octets not yet read.
  size_t remaining() const { return octets_.size() - position_; }
  // Octets read so far.
  size_t position() const { return position_; }
  // Everything not yet read, without reading it.
  std::span<const std::byte> rest() const { return octets_.subspan(position_); }

  // The next n octets without reading them. n must not exceed remaining().
  const std::byte* peek(size_t n) const {
    UET_ASSERT(n <= remaining());
    return octets_.data() + position_;
  }

  // Reads n octets and returns where they are. n must not exceed remaining().
  const std::byte* take(size_t n) {
    const std::byte* p = peek(n);
    position_ += n;
    return p;
  }

  std::span<const std::byte> bytes(size_t n) { return {take(n), n}; }
  void skip(size_t n) { take(n); }

  uint8_t u8() { return load_u8(take(1)); }
  uint16_t u16() { return load_u16(take(2)); }
  uint32_t u24() {
    const std::byte* p = take(3);
    return static_cast<uint32_t>(load_u8(p)) << 16 | load_u16(p + 1);
  }
  uint32_t u32() { return load_u32(take(4)); }
  uint64_t u64() { return load_u64(take(8)); }

 private:
  std::span<const std::byte> octets_;
  size_t position_ = 0;
};

}  // namespace uet::wire
