// Memory for payload that no receive waits for yet: pages of one arena block, touched when used.
// A message reserves all its pages at first arrival, so it never runs out half-way, and any octet
// of it is found in O(1), in whatever order a hostile sender fills it. [SES-126, architecture 8]
#pragma once

#include "base/arena.h"
#include "base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::ses {

// The pages of one message: up to four inline, else a page of page numbers, or two levels of them.
struct PageList {
  uint64_t bytes = 0;
  uint32_t page_count = 0;          // of payload
  std::array<uint32_t, 4> pages{};  // payload pages, or the one root
};

class UnexpectedPool {
 public:
  static constexpr uint32_t kPageBytes = 4096;
  static constexpr uint32_t kFanOut = kPageBytes / sizeof(uint32_t);

  // Rounded down to whole pages; 0 gives a pool that is always full.
  Result<void> create(Arena& arena, uint64_t bytes);

  // Room for `bytes`, all or nothing. False: not enough free pages.
  bool reserve(uint64_t bytes, PageList& out);
  void release(PageList& list);

  // [offset, offset + length) must lie inside the list.
  void write(const PageList& list, uint64_t offset, std::span<const std::byte> source);
  // Calls fn(std::span<const std::byte>) for the pieces of [offset, offset + length), in order.
  template <class Fn>
  void read(const PageList& list, uint64_t offset, uint64_t length, Fn&& fn) const {
    UET_ASSERT(offset <= list.bytes && length <= list.bytes - offset);
    while (length != 0) {
      const uint64_t skip = offset % kPageBytes;
      const uint64_t here = kPageBytes - skip < length ? kPageBytes - skip : length;
      fn(std::span<const std::byte>(page(payload_page(list, offset / kPageBytes)) + skip, here));
      offset += here;
      length -= here;
    }
  }

  uint32_t free_pages() const { return free_count_ + (page_count_ - fresh_); }
  uint32_t pages() const { return page_count_; }
  // Grows with every release(); a disabled index looks here whether to come back. [SES-133]
  uint64_t released_total() const { return released_total_; }

 private:
  std::byte* page(uint32_t number) const { return memory_ + uint64_t{number} * kPageBytes; }
  uint32_t* numbers(uint32_t number) const { return reinterpret_cast<uint32_t*>(page(number)); }
  static uint64_t overhead_pages(uint64_t payload_pages);
  uint32_t payload_page(const PageList& list, uint64_t ordinal) const;
  uint32_t take();
  void give_back(uint32_t number) { free_[free_count_++] = number; }

  std::byte* memory_ = nullptr;
  std::span<uint32_t> free_;  // the first free_count_ entries are free pages below fresh_
  uint32_t free_count_ = 0;
  uint32_t fresh_ = 0;  // pages never used, hence never touched, start here
  uint32_t page_count_ = 0;
  uint64_t released_total_ = 0;
};

}  // namespace uet::ses
