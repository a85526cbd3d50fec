// A bitmap that slides: bit 0 is the base of a window, advance(n) drops the n lowest bits and lets
// as many clear ones in at the top. For receive windows of 1024 or 2048 PSNs, where a memmove per
// packet would cost 16 to 32 words; here advancing touches only the words it passes.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "base/result.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

namespace uet {

// Offsets are counted from the base: the caller keeps the sequence number of the base.
class RingBitmap {
 public:
  static constexpr uint32_t kBitsMax = uint32_t{1} << 30;

  RingBitmap() = default;  // no bits until create or attach

  // All bits clear; the size is rounded up to a power of two of at least 64. Errc::invalid for
  // 0 or more than kBitsMax bits, Errc::no_memory when the arena has none.
  Result<void> create(Arena& arena, uint32_t bits) {
    if (bits == 0 || bits > kBitsMax) return Errc::invalid;
    const auto words = arena.make_span<uint64_t>(std::bit_ceil(std::max(bits, 64u)) / 64);
    if (words.data() == nullptr) return Errc::no_memory;
    attach(words);
    return {};
  }

  // Uses the caller's words, a power of two of them, and clears them. An empty span detaches.
  void attach(std::span<uint64_t> words) {
    UET_ASSERT(words.empty() || std::has_single_bit(words.size()));
    UET_ASSERT(words.size() <= kBitsMax / 64);
    words_ = words.data();
    size_ = static_cast<uint32_t>(words.size()) * 64;
    clear_all();
  }

  uint32_t size() const { return size_; }
  bool test(uint32_t offset) const {
    UET_ASSERT(offset < size_);
    const uint32_t at = position(offset);
    return (words_[at / 64] >> (at % 64)) & 1;
  }
  void set(uint32_t offset) {
    UET_ASSERT(offset < size_);
    const uint32_t at = position(offset);
    words_[at / 64] |= uint64_t{1} << (at % 64);
    if (offset >= top_) top_ = offset + 1;
  }
  void clear(uint32_t offset) {
    UET_ASSERT(offset < size_);
    const uint32_t at = position(offset);
    words_[at / 64] &= ~(uint64_t{1} << (at % 64));
  }
  void clear_all() {
    std::fill_n(words_, size_ / 64, 0);
    start_ = top_ = 0;
  }

  // Offset n becomes offset 0. n may exceed the size: everything is forgotten then.
  // Cost: O(words passed).
  void advance(uint32_t n);

  // How many bits are set in a row from the base. Cost: O(words in the run).
  uint32_t leading_ones() const { return find(0, size_, ~uint64_t{0}); }
  // The first clear bit at or after `from`; size() when there is none.
  uint32_t find_first_zero(uint32_t from = 0) const { return find(from, size_, ~uint64_t{0}); }
  // The first set bit at or after `from`; size() when there is none.
  uint32_t find_first_set(uint32_t from = 0) const {
    const uint32_t at = find(from, top_, 0);
    return at < top_ ? at : size_;
  }
  // The highest set bit of those below `end`, or -1 when none is. Cost: O(words between it and
  // the end).
  int32_t highest_set(uint32_t end = kBitsMax) const;
  // How many bits are set. Cost: O(words up to the highest).
  uint32_t count() const;

  // Bits offset .. offset + 63, the lowest first; bits outside the window read as zero. A negative
  // offset is allowed, so that a SACK base below the window needs no special case. O(1).
  uint64_t extract64(int64_t offset) const;

 private:
  uint32_t position(uint32_t offset) const { return (start_ + offset) & (size_ - 1); }
  // 64 bits from `offset`, wrapping past the end of the window.
  uint64_t wrapped64(uint32_t offset) const {
    const uint32_t at = position(offset);
    const uint32_t shift = at % 64;
    const uint64_t low = words_[at / 64] >> shift;
    if (shift == 0) return low;
    const uint32_t next = (at / 64 + 1) & (size_ / 64 - 1);
    return low | words_[next] << (64 - shift);
  }
  // The first offset in [from, end) whose bit differs from flip's; end when there is none.
  uint32_t find(uint32_t from, uint32_t end, uint64_t flip) const {
    for (uint32_t at = from; at < end; at += 64) {
      const uint64_t hits = wrapped64(at) ^ flip;
      if (hits != 0) return std::min(end, at + static_cast<uint32_t>(std::countr_zero(hits)));
    }
    return end;
  }

  uint64_t* words_ = nullptr;
  uint32_t size_ = 0;   // bits; a power of two
  uint32_t start_ = 0;  // position of offset 0 in the words
  uint32_t top_ = 0;    // no bit is set at this offset or above
};

inline void RingBitmap::advance(uint32_t n) {
  // Bits above top_ are clear already.
  const uint32_t dirty = std::min(n, top_);
  for (uint32_t done = 0; done < dirty;) {
    const uint32_t at = position(done);
    const uint32_t run = std::min(64 - at % 64, dirty - done);
    const uint64_t ones = run == 64 ? ~uint64_t{0} : (uint64_t{1} << run) - 1;
    words_[at / 64] &= ~(ones << (at % 64));
    done += run;
  }
  top_ -= dirty;
  if (size_ != 0) start_ = position(n);
}

inline int32_t RingBitmap::highest_set(uint32_t end) const {
  for (end = std::min(end, top_); end > 0;) {
    const uint32_t from = end > 64 ? end - 64 : 0;
    uint64_t bits = wrapped64(from);
    if (end - from < 64) bits &= (uint64_t{1} << (end - from)) - 1;
    if (bits != 0)
      return static_cast<int32_t>(from + static_cast<uint32_t>(std::bit_width(bits)) - 1);
    end = from;
  }
  return -1;
}

inline uint32_t RingBitmap::count() const {
  uint32_t n = 0;
  for (uint32_t at = 0; at < top_; at += 64) {
    n += static_cast<uint32_t>(std::popcount(extract64(at)));
  }
  return n;
}

inline uint64_t RingBitmap::extract64(int64_t offset) const {
  if (offset <= -64 || offset >= size_) return 0;
  if (offset < 0) return wrapped64(0) << -offset;
  const auto from = static_cast<uint32_t>(offset);
  const uint64_t bits = wrapped64(from);
  const uint32_t left = size_ - from;
  return left >= 64 ? bits : bits & ((uint64_t{1} << left) - 1);
}

}  // namespace uet
