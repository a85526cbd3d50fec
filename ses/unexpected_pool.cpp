// The page pool of unexpected payload.
#include "ses/unexpected_pool.h"

#include <cstring>
#include <tuple>

namespace uet::ses {

Result<void> UnexpectedPool::create(Arena& arena, uint64_t bytes) {
  const uint64_t pages = bytes / kPageBytes;
  if (pages > UINT32_MAX) return Errc::invalid;
  if (pages == 0) return {};
  memory_ = static_cast<std::byte*>(arena.allocate(pages * kPageBytes, kPageBytes));
  free_ = arena.make_span<uint32_t>(pages);
  if (memory_ == nullptr || free_.empty()) return Errc::no_memory;
  page_count_ = static_cast<uint32_t>(pages);
  return {};
}

uint64_t UnexpectedPool::overhead_pages(uint64_t payload_pages) {
  if (payload_pages <= std::tuple_size_v<decltype(PageList::pages)>) return 0;
  if (payload_pages <= kFanOut) return 1;
  return 1 + (payload_pages + kFanOut - 1) / kFanOut;
}

uint32_t UnexpectedPool::take() {
  if (free_count_ != 0) return free_[--free_count_];
  UET_ASSERT(fresh_ < page_count_);
  return fresh_++;
}

bool UnexpectedPool::reserve(uint64_t bytes, PageList& out) {
  const uint64_t count = (bytes + kPageBytes - 1) / kPageBytes;
  const uint64_t available = free_count_ + uint64_t{page_count_ - fresh_};
  // Two levels of page numbers reach 4 GiB, more than a message can have.
  static_assert(uint64_t{kFanOut} * kFanOut * kPageBytes > UINT32_MAX);
  if (count > available || count + overhead_pages(count) > available) return false;

  out = PageList{.bytes = bytes, .page_count = static_cast<uint32_t>(count)};
  if (overhead_pages(count) == 0) {
    for (uint32_t i = 0; i < count; ++i) out.pages[i] = take();
    return true;
  }
  out.pages[0] = take();
  uint32_t* leaf = numbers(out.pages[0]);
  for (uint32_t i = 0; i < count; ++i) {
    if (count > kFanOut && i % kFanOut == 0) {
      const uint32_t number = take();
      numbers(out.pages[0])[i / kFanOut] = number;
      leaf = numbers(number);
    }
    leaf[i % kFanOut] = take();
  }
  return true;
}

void UnexpectedPool::release(PageList& list) {
  const uint64_t overhead = overhead_pages(list.page_count);
  for (uint32_t i = 0; i < list.page_count; ++i) give_back(payload_page(list, i));
  for (uint32_t i = 0; i + 1 < overhead; ++i) give_back(numbers(list.pages[0])[i]);
  if (overhead != 0) give_back(list.pages[0]);
  list = PageList{};
  ++released_total_;
}

uint32_t UnexpectedPool::payload_page(const PageList& list, uint64_t ordinal) const {
  if (list.page_count <= list.pages.size()) return list.pages[ordinal];
  if (list.page_count <= kFanOut) return numbers(list.pages[0])[ordinal];
  return numbers(numbers(list.pages[0])[ordinal / kFanOut])[ordinal % kFanOut];
}

void UnexpectedPool::write(const PageList& list, uint64_t offset,
                           std::span<const std::byte> source) {
  UET_ASSERT(offset <= list.bytes && source.size() <= list.bytes - offset);
  while (!source.empty()) {
    const uint64_t skip = offset % kPageBytes;
    const uint64_t here = kPageBytes - skip < source.size() ? kPageBytes - skip : source.size();
    std::memcpy(page(payload_page(list, offset / kPageBytes)) + skip, source.data(), here);
    source = source.subspan(here);
    offset += here;
  }
}

}  // namespace uet::ses
