// The page pool of unexpected payload.
#include "ses/receives/unexpected_pool.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace uet::ses {

Result<void> UnexpectedPool::create(Arena& arena, uint64_t bytes, bool keeps_octets) {
  const uint64_t pages = bytes / kPageBytes;
  if (pages > UINT32_MAX) return Errc::invalid;
  if (pages == 0) return {};
  memory_ = static_cast<std::byte*>(arena.allocate(pages * kPageBytes, kPageBytes));
  free_ = arena.make_span<uint32_t>(pages);
  payload_ =
      keeps_octets ? memory_ : static_cast<std::byte*>(arena.allocate(kPageBytes, kPageBytes));
  if (memory_ == nullptr || payload_ == nullptr || free_.empty()) return Errc::no_memory;
  payload_step_ = keeps_octets ? kPageBytes : 0;
  page_count_ = static_cast<uint32_t>(pages);
  return {};
}

uint64_t UnexpectedPool::overhead_pages(uint64_t payload_pages) {
  if (payload_pages <= std::tuple_size_v<decltype(PageList::pages)>) return 0;
  if (payload_pages <= kFanOut) return 1;
  return 1 + (payload_pages + kFanOut - 1) / kFanOut;
}

PageList UnexpectedPool::list_of(uint64_t bytes) {
  // Two levels of page numbers reach 4 GiB, more than a message can have.
  static_assert(uint64_t{kFanOut} * kFanOut * kPageBytes > UINT32_MAX);
  UET_ASSERT(bytes <= UINT32_MAX);
  PageList list;
  list.bytes = bytes;
  list.page_count = static_cast<uint32_t>((bytes + kPageBytes - 1) / kPageBytes);
  return list;
}

uint64_t UnexpectedPool::whole(uint64_t bytes) {
  const uint64_t pages = (bytes + kPageBytes - 1) / kPageBytes;
  return pages + overhead_pages(pages);
}

uint32_t UnexpectedPool::missing(const PageList& list, uint64_t offset, uint64_t length) const {
  UET_ASSERT(offset <= list.bytes && length <= list.bytes - offset);
  if (length == 0) return 0;
  const uint64_t first = offset / kPageBytes;
  const uint64_t last = (offset + length - 1) / kPageBytes;
  uint32_t count = 0;
  for (uint64_t i = first; i <= last; ++i) count += payload_page(list, i) == PageList::kNone;
  if (overhead_pages(list.page_count) == 0) return count;
  const bool has_root = list.pages[0] != PageList::kNone;
  count += !has_root;
  if (list.page_count <= kFanOut) return count;
  for (uint64_t i = first / kFanOut; i <= last / kFanOut; ++i) {
    count += !has_root || numbers(list.pages[0])[i] == PageList::kNone;
  }
  return count;
}

uint32_t UnexpectedPool::take(PageList& list) {
  ++list.held;
  if (free_count_ != 0) return free_[--free_count_];
  UET_ASSERT(fresh_ < page_count_);
  return fresh_++;
}

uint32_t UnexpectedPool::take_table(PageList& list) {
  const uint32_t number = take(list);
  std::fill_n(numbers(number), kFanOut, PageList::kNone);
  return number;
}

void UnexpectedPool::release_table(uint32_t table, uint32_t count) {
  const uint32_t* const entries = numbers(table);
  for (uint32_t i = 0; i < count; ++i) {
    if (entries[i] != PageList::kNone) give_back(entries[i]);
  }
  give_back(table);
}

void UnexpectedPool::release(PageList& list) {
  if (overhead_pages(list.page_count) == 0) {
    for (uint32_t i = 0; i < list.page_count; ++i) {
      if (list.pages[i] != PageList::kNone) give_back(list.pages[i]);
    }
  } else if (list.pages[0] != PageList::kNone) {
    const uint32_t root = list.pages[0];
    const uint32_t leaves = (list.page_count + kFanOut - 1) / kFanOut;
    for (uint32_t i = 0; i < leaves && list.page_count > kFanOut; ++i) {
      const uint32_t leaf = numbers(root)[i];
      if (leaf != PageList::kNone) release_table(leaf, kFanOut);
    }
    if (list.page_count > kFanOut) {
      give_back(root);
    } else {
      release_table(root, list.page_count);
    }
  }
  list = PageList{};
}

// kNone: nothing has arrived for it.
uint32_t UnexpectedPool::payload_page(const PageList& list, uint64_t ordinal) const {
  if (list.page_count <= list.pages.size()) return list.pages[ordinal];
  if (list.pages[0] == PageList::kNone) return PageList::kNone;
  if (list.page_count <= kFanOut) return numbers(list.pages[0])[ordinal];
  const uint32_t leaf = numbers(list.pages[0])[ordinal / kFanOut];
  return leaf == PageList::kNone ? leaf : numbers(leaf)[ordinal % kFanOut];
}

// The same page, taken now if it was not.
uint32_t UnexpectedPool::page_for(PageList& list, uint64_t ordinal) {
  uint32_t* entry = nullptr;
  if (list.page_count <= list.pages.size()) {
    entry = &list.pages[ordinal];
  } else {
    uint32_t* table = &list.pages[0];
    if (*table == PageList::kNone) *table = take_table(list);
    if (list.page_count > kFanOut) {
      table = &numbers(*table)[ordinal / kFanOut];
      if (*table == PageList::kNone) *table = take_table(list);
    }
    entry = &numbers(*table)[ordinal % kFanOut];
  }
  if (*entry == PageList::kNone) *entry = take(list);
  return *entry;
}

void UnexpectedPool::write(PageList& list, uint64_t offset, std::span<const std::byte> source) {
  UET_ASSERT(offset <= list.bytes && source.size() <= list.bytes - offset);
  while (!source.empty()) {
    const uint64_t skip = offset % kPageBytes;
    const uint64_t here = kPageBytes - skip < source.size() ? kPageBytes - skip : source.size();
    std::memcpy(payload(page_for(list, offset / kPageBytes)) + skip, source.data(), here);
    source = source.subspan(here);
    offset += here;
  }
}

}  // namespace uet::ses
