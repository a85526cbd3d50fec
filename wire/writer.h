// A cursor over octets to be sent. Running out of room is a mistake of the caller, who knows the
// size of every header beforehand, so it is asserted.
#pragma once

#include "wire/octets.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace uet::wire {

// A view; the octets must outlive it.
class Writer {
 public:
  constexpr Writer() = default;
  constexpr explicit Writer(std::span<std::byte> octets) : octets_(octets) {}

  // Room left, in octets.
  size_t remaining() const { return octets_.size() - position_; }
  // Octets written so far.
  size_t position() const { return position_; }
  std::span<const std::byte> written() const { return octets_.first(position_); }

  // Counts n octets as written and returns where they go; the caller fills all of them.
  std::byte* take(size_t n) {
    UET_ASSERT(n <= remaining());
    std::byte* p = octets_.data() + position_;
    position_ += n;
    return p;
  }

  void bytes(std::span<const std::byte> octets) {
    std::byte* p = take(octets.size());
    if (!octets.empty()) std::memcpy(p, octets.data(), octets.size());
  }

  void u8(uint8_t v) { store_u8(take(1), v); }
  void u16(uint16_t v) { store_u16(take(2), v); }
  void u24(uint32_t v) {
    UET_ASSERT(v <= 0xFFFFFF);
    std::byte* p = take(3);
    store_u8(p, static_cast<uint8_t>(v >> 16));
    store_u16(p + 1, static_cast<uint16_t>(v));
  }
  void u32(uint32_t v) { store_u32(take(4), v); }
  void u64(uint64_t v) { store_u64(take(8), v); }

 private:
  std::span<std::byte> octets_;
  size_t position_ = 0;
};

}  // namespace uet::wire
