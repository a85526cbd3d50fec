// A scatter/gather list as an operation keeps it: the slices are copied, the memory they name is
// the user's. Finds the slice of an offset in O(1) when offsets move forward.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "base/packet.h"
#include "base/result.h"
#include "base/slab.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::ses {

inline constexpr uint32_t kIovMax = 64;  // [LF-074]

struct LongIov {
  std::array<IoSlice, kIovMax> slices;
};
using LongIovs = Slab<LongIov>;

// Octets of all slices. Errc::invalid: more than kIovMax; Errc::too_long: the sum does not fit 64
// bits.
inline Result<uint64_t> total_bytes(std::span<const IoSlice> slices) {
  if (slices.size() > kIovMax) return Errc::invalid;
  uint64_t sum = 0;
  for (const IoSlice& slice : slices) {
    if (slice.length > UINT64_MAX - sum) return Errc::too_long;
    sum += slice.length;
  }
  return sum;
}

// Copies all slices to `to`, which has room for total_bytes().
inline void gather(std::span<const IoSlice> slices, std::byte* to) {
  for (const IoSlice& slice : slices) to = std::copy_n(slice.data, slice.length, to);
}

// Up to four slices inline, more in a LongIov. The holder calls release() when done.
class Iov {
 public:
  static constexpr uint32_t kInline = 4;

  Iov() = default;
  Iov(const Iov&) = delete;
  Iov& operator=(const Iov&) = delete;

  // Takes the slices. Errors of total_bytes(), or Errc::again: no LongIov. Nothing is held then.
  Result<void> assign(std::span<const IoSlice> slices, LongIovs& pool);
  // One slice; it always fits.
  void assign(const IoSlice& slice) {
    UET_ASSERT(count_ == 0 && long_ == nullptr);
    inline_[0] = slice;
    hold(1, slice.length);
  }
  void release(LongIovs& pool) {
    if (long_ != nullptr) pool.free(long_);
    long_ = nullptr;
    hold(0, 0);
  }

  uint64_t bytes() const { return bytes_; }
  uint32_t count() const { return count_; }
  const IoSlice& operator[](uint32_t i) const { return slices()[i]; }

  // Calls fn(const std::byte* data, uint64_t length) for the memory of [offset, offset + length),
  // which must lie inside, in order.
  template <class Fn>
  void for_each(uint64_t offset, uint64_t length, Fn&& fn) const;

  // Copies `source` to the memory at `offset`; must fit. The one copy of a received payload.
  void scatter(uint64_t offset, std::span<const std::byte> source) const;

 private:
  const IoSlice* slices() const { return long_ != nullptr ? long_->slices.data() : inline_.data(); }
  void hold(uint32_t count, uint64_t bytes) {
    count_ = count;
    bytes_ = bytes;
    at_ = 0;
    at_start_ = 0;
  }
  void seek(uint64_t offset) const;

  uint64_t bytes_ = 0;
  mutable uint64_t at_start_ = 0;  // offset of the first octet of slice at_
  mutable uint32_t at_ = 0;
  uint32_t count_ = 0;
  LongIov* long_ = nullptr;
  std::array<IoSlice, kInline> inline_;
};

template <class Fn>
void Iov::for_each(uint64_t offset, uint64_t length, Fn&& fn) const {
  UET_ASSERT(offset <= bytes_ && length <= bytes_ - offset);
  if (length == 0) return;
  seek(offset);
  uint32_t i = at_;
  uint64_t skip = offset - at_start_;
  while (length != 0) {
    const IoSlice& slice = slices()[i++];
    const uint64_t here = slice.length - skip < length ? slice.length - skip : length;
    if (here != 0) fn(slice.data + skip, here);
    length -= here;
    skip = 0;
  }
}

}  // namespace uet::ses
