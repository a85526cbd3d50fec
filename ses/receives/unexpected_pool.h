// Memory for payload that no receive waits for yet: pages of one arena block, touched when used. A
// message takes a page when an octet for it arrives, so a length in its header costs nothing, and
// any octet is found in O(1), in any order of arrival. [SES-126, SES-189]
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
  static constexpr uint32_t kNone = UINT32_MAX;  // a page that nothing has arrived for

  uint64_t bytes = 0;
  uint32_t page_count = 0;  // of payload, when the whole message has arrived
  uint32_t held = 0;        // taken so far, those with page numbers too
  std::array<uint32_t, 4> pages{kNone, kNone, kNone, kNone};  // payload pages, or the one root
};

class UnexpectedPool {
 public:
  static constexpr uint32_t kPageBytes = 4096;
  static constexpr uint32_t kFanOut = kPageBytes / sizeof(uint32_t);

  // Rounded down to whole pages; 0 gives a pool that is always full. keeps_octets: false: all
  // payload is written to one page.
  Result<void> create(Arena& arena, uint64_t bytes, bool keeps_octets = true);

  // An empty list for a message of that length. It takes no page.
  static PageList list_of(uint64_t bytes);
  // Pages that a message of that length takes in the end.
  static uint64_t whole(uint64_t bytes);
  // Pages that are still to be taken before [offset, offset + length) can be written.
  uint32_t missing(const PageList& list, uint64_t offset, uint64_t length) const;
  void release(PageList& list);

  // [offset, offset + length) must lie inside the list, and the pages that are missing be free.
  void write(PageList& list, uint64_t offset, std::span<const std::byte> source);
  // Calls fn(std::span<const std::byte>) for the pieces of [offset, offset + length), in order. All
  // of it must have been written.
  template <class Fn>
  void read(const PageList& list, uint64_t offset, uint64_t length, Fn&& fn) const {
    UET_ASSERT(offset <= list.bytes && length <= list.bytes - offset);
    while (length != 0) {
      const uint64_t skip = offset % kPageBytes;
      const uint64_t here = kPageBytes - skip < length ? kPageBytes - skip : length;
      fn(std::span<const std::byte>(payload(payload_page(list, offset / kPageBytes)) + skip, here));
      offset += here;
      length -= here;
    }
  }

  uint32_t free_pages() const { return free_count_ + (page_count_ - fresh_); }
  uint32_t pages() const { return page_count_; }

 private:
  std::byte* payload(uint32_t number) const { return payload_ + number * payload_step_; }
  uint32_t* numbers(uint32_t number) const {
    return reinterpret_cast<uint32_t*>(memory_ + uint64_t{number} * kPageBytes);
  }
  static uint64_t overhead_pages(uint64_t payload_pages);
  uint32_t payload_page(const PageList& list, uint64_t ordinal) const;
  uint32_t page_for(PageList& list, uint64_t ordinal);
  uint32_t take(PageList& list);
  uint32_t take_table(PageList& list);
  void release_table(uint32_t table, uint32_t count);
  void give_back(uint32_t number) { free_[free_count_++] = number; }

  std::byte* memory_ = nullptr;
  std::byte* payload_ = nullptr;  // of page 0; the same as memory_ where octets are kept
  uint64_t payload_step_ = 0;     // to the payload of the next page
  std::span<uint32_t> free_;      // the first free_count_ entries are free pages below fresh_
  uint32_t free_count_ = 0;
  uint32_t fresh_ = 0;  // pages never used, hence never touched, start here
  uint32_t page_count_ = 0;
};

}  // namespace uet::ses
