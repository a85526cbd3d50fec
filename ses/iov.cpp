// Scatter/gather lists: taking, seeking, copying.
#include "ses/iov.h"

#include <algorithm>
#include <cstring>

namespace uet::ses {

Result<void> Iov::assign(std::span<const IoSlice> slices, LongIovs& pool) {
  UET_ASSERT(count_ == 0 && long_ == nullptr);
  if (slices.size() == 1) {
    assign(slices.front());
    return {};
  }
  const uint64_t sum = UET_TRY(total_bytes(slices));
  IoSlice* to = inline_.data();
  if (slices.size() > kInline) {
    long_ = pool.alloc();
    if (long_ == nullptr) return Errc::again;
    to = long_->slices.data();
  }
  std::copy(slices.begin(), slices.end(), to);
  hold(static_cast<uint32_t>(slices.size()), sum);
  return {};
}

void Iov::seek(uint64_t offset) const {
  if (offset < at_start_) {
    at_ = 0;
    at_start_ = 0;
  }
  // Stops inside a slice, or in the last one when offset is the end.
  while (at_ + 1 < count_ && offset - at_start_ >= slices()[at_].length) {
    at_start_ += slices()[at_].length;
    ++at_;
  }
}

void Iov::scatter(uint64_t offset, std::span<const std::byte> source) const {
  const std::byte* from = source.data();
  for_each(offset, source.size(), [&](const std::byte* to, uint64_t length) {
    // The user gave this memory for writing; IoSlice is const for the sake of the send side.
    std::memcpy(const_cast<std::byte*>(to), from, length);
    from += length;
  });
}

}  // namespace uet::ses
