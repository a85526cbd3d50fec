// An array of values that are zero until they are set, in arena memory that is taken page by page
// where values are set.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

namespace uet {

// Reading costs an index check and two loads.
template <class T, uint32_t kPageValues = 64>
class SparseArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  // Once, before anything else. Takes no memory yet; the arena must outlive this object.
  void create(Arena& arena, uint32_t size) {
    UET_ASSERT(arena_ == nullptr);
    arena_ = &arena;
    size_ = size;
  }

  uint32_t size() const { return size_; }

  // Any index is allowed: there is zero beyond the end.
  T operator[](uint32_t index) const {
    const uint32_t page = index / kPageValues;
    return page < pages_.size() ? (*pages_[page])[index % kPageValues] : T{};
  }

  // Takes the memory of that value, below size(). False: the arena has none; nothing was changed.
  [[nodiscard]] bool reserve(uint32_t index) {
    UET_ASSERT(index < size_);
    if (pages_.empty() && !make_root()) return false;
    const Page*& page = pages_[index / kPageValues];
    if (page != &kZeros) return true;
    const Page* const made = arena_->make<Page>(Page{});
    if (made == nullptr) return false;
    page = made;
    return true;
  }

  // The value's memory was reserved, once is enough.
  void set(uint32_t index, T value) {
    UET_DEBUG_ASSERT(index / kPageValues < pages_.size());
    const Page* const page = pages_[index / kPageValues];
    UET_ASSERT(page != &kZeros);
    (*const_cast<Page*>(page))[index % kPageValues] = value;
  }

 private:
  using Page = std::array<T, kPageValues>;
  static constexpr Page kZeros{};

  bool make_root() {
    const auto pages = arena_->make_span<const Page*>((size_ + kPageValues - 1) / kPageValues);
    if (pages.data() == nullptr) return false;
    for (const Page*& page : pages) page = &kZeros;
    pages_ = pages;
    return true;
  }

  std::span<const Page*> pages_;  // empty until the first value is reserved
  Arena* arena_ = nullptr;
  uint32_t size_ = 0;
};

}  // namespace uet
