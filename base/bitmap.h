// A fixed-size set of small numbers over 64-bit words of the caller: free slots, credits, message
// identifiers. For sliding windows see base/ring_bitmap.h.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "base/result.h"

#include <bit>
#include <cstdint>
#include <span>

namespace uet {

class Bitmap {
 public:
  Bitmap() = default;  // no bits until create or attach

  // All bits clear. Errc::no_memory when the arena has none.
  Result<void> create(Arena& arena, uint32_t bits) {
    const std::span<uint64_t> words = arena.make_span<uint64_t>(words_for(bits));
    if (bits != 0 && words.data() == nullptr) return Errc::no_memory;
    words_ = words.data();
    size_ = bits;
    return {};
  }

  // Uses the caller's words, at least words_for(bits) of them, and clears them.
  void attach(std::span<uint64_t> words, uint32_t bits) {
    UET_ASSERT(words.size() >= words_for(bits));
    words_ = words.data();
    size_ = bits;
    clear_all();
  }

  static constexpr uint32_t words_for(uint32_t bits) { return bits / 64 + (bits % 64 != 0); }

  uint32_t size() const { return size_; }
  bool test(uint32_t i) const {
    UET_ASSERT(i < size_);
    return (words_[i / 64] >> (i % 64)) & 1;
  }
  void set(uint32_t i) {
    UET_ASSERT(i < size_);
    words_[i / 64] |= uint64_t{1} << (i % 64);
  }
  void clear(uint32_t i) {
    UET_ASSERT(i < size_);
    words_[i / 64] &= ~(uint64_t{1} << (i % 64));
  }
  void clear_all() {
    for (uint32_t w = 0; w < words_for(size_); ++w) words_[w] = 0;
  }

  // The first clear bit at or after `from`; size() when there is none.
  uint32_t find_first_zero(uint32_t from = 0) const { return find(from, ~uint64_t{0}); }
  // The first set bit at or after `from`; size() when there is none.
  uint32_t find_first_set(uint32_t from = 0) const { return find(from, 0); }
  // How many bits are set in a row from bit 0.
  uint32_t leading_ones() const { return find_first_zero(); }

  uint32_t count() const {
    uint32_t n = 0;
    for (uint32_t w = 0; w < words_for(size_); ++w) {
      n += static_cast<uint32_t>(std::popcount(words_[w]));
    }
    return n;
  }

 private:
  // The first bit at or after `from` that is set in word ^ flip.
  uint32_t find(uint32_t from, uint64_t flip) const {
    if (from >= size_) return size_;
    uint64_t keep = ~uint64_t{0} << (from % 64);
    for (uint32_t w = from / 64; w < words_for(size_); ++w) {
      const uint64_t hits = (words_[w] ^ flip) & keep;
      // Bits of the last word beyond the size are clear: they can only be found as zeros.
      if (hits != 0) {
        const uint32_t at = w * 64 + static_cast<uint32_t>(std::countr_zero(hits));
        return at < size_ ? at : size_;
      }
      keep = ~uint64_t{0};
    }
    return size_;
  }

  uint64_t* words_ = nullptr;  // bits from size_ up are clear
  uint32_t size_ = 0;
};

}  // namespace uet
