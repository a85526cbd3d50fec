// An application's iovec as the stack wants it, on the caller's stack, without clearing it first.
#pragma once

#include "prov/uet/api/compat.h"

#include "ses/iov.h"

#include <sys/uio.h>

#include <cstdint>
#include <span>

namespace uet::prov {

class Slices {
 public:
  Slices() {}  // leaves the elements unset: 1 KiB that most calls never touch

  // 0, or -FI_EINVAL: too many elements, a null pointer, or more octets than 64 bits can count. How
  // long a message may be is for the caller to check; a receive buffer may be longer. [LF-073]
  int assign(const struct iovec* iov, size_t count) {
    if (count > ses::kIovMax || (iov == nullptr && count > 0)) return -FI_EINVAL;
    bytes_ = 0;
    for (size_t i = 0; i < count; ++i) {
      if (iov[i].iov_base == nullptr && iov[i].iov_len > 0) return -FI_EINVAL;
      if (iov[i].iov_len > UINT64_MAX - bytes_) return -FI_EINVAL;
      bytes_ += iov[i].iov_len;
      slices_[i].data = static_cast<const std::byte*>(iov[i].iov_base);
      slices_[i].length = iov[i].iov_len;
    }
    count_ = static_cast<uint32_t>(count);
    return 0;
  }

  // The part of `from` that starts at `offset` and is `length` long; must lie inside.
  void assign_part(const Slices& from, uint64_t offset, uint64_t length) {
    bytes_ = length;
    count_ = 0;
    for (uint32_t i = 0; i < from.count_ && length > 0; ++i) {
      const IoSlice& slice = from.slices_[i];
      if (offset >= slice.length) {
        offset -= slice.length;
        continue;
      }
      const uint64_t here = slice.length - offset < length ? slice.length - offset : length;
      slices_[count_].data = slice.data + offset;
      slices_[count_].length = here;
      ++count_;
      length -= here;
      offset = 0;
    }
  }

  std::span<const IoSlice> view() const { return {slices_, count_}; }
  uint64_t bytes() const { return bytes_; }

 private:
  uint32_t count_ = 0;
  uint64_t bytes_ = 0;
  union {
    IoSlice slices_[ses::kIovMax];
  };
};

}  // namespace uet::prov
