// A ring of values addressed by an index that only grows (and wraps at 2^32), so that the index
// can be a PSN or any other sequence number. Memory from an arena or from the owner; no heap.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "base/result.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace uet {

// T is default-constructible and trivially destructible. A popped value stays in memory until it is
// overwritten.
template <class T>
class Ring {
 public:
  static constexpr uint32_t kCapacityMax = uint32_t{1} << 31;

  Ring() = default;  // capacity 0 until create or attach

  // For up to `most` values (rounded up to a power of two), in memory that make_room() takes from
  // the arena as it is needed; the arena must outlive this object. The first value pushed gets
  // index `first`. Errc::invalid for a `most` of 0 or too large.
  Result<void> create(Arena& arena, uint32_t most, uint32_t first = 0) {
    if (most == 0 || most > kCapacityMax) return Errc::invalid;
    arena_ = &arena;
    most_ = std::bit_ceil(most);
    clear(first);
    return {};
  }
  // Whether one more value fits, for which twice the memory may be taken. False: as many as there
  // may be are there, or the arena has no memory.
  [[nodiscard]] bool make_room() { return size() < capacity_ || grow(); }

  // The same for as many values as there may be.
  [[nodiscard]] bool make_all_room() {
    while (capacity_ < most_) {
      if (!grow()) return false;
    }
    return true;
  }

  // Uses memory of the caller, a power of two of values; starts empty. An empty span detaches.
  void attach(std::span<T> memory, uint32_t first = 0) {
    static_assert(std::is_trivially_destructible_v<T>);
    UET_ASSERT(memory.empty() || std::has_single_bit(memory.size()));
    UET_ASSERT(memory.size() <= kCapacityMax);
    slots_ = memory.data();
    capacity_ = most_ = static_cast<uint32_t>(memory.size());
    clear(first);
  }

  // Appends and returns the index of the value. Asserts that there is room, as attach() gives it,
  // or make_room() does.
  uint32_t push(T value) {
    UET_ASSERT(size() < capacity_);
    slots_[end_ & (capacity_ - 1)] = std::move(value);
    return end_++;
  }
  // Removes the oldest value. Asserts that there is one.
  T pop_front() {
    UET_ASSERT(!empty());
    return std::move(slots_[begin_++ & (capacity_ - 1)]);
  }
  // Forgets everything; the next value pushed gets index `first`.
  void clear(uint32_t first) { begin_ = end_ = first; }

  bool contains(uint32_t index) const { return index - begin_ < end_ - begin_; }
  // The value pushed as `index`; asserts that it is still in the ring.
  T& operator[](uint32_t index) {
    UET_ASSERT(contains(index));
    return slots_[index & (capacity_ - 1)];
  }
  const T& operator[](uint32_t index) const { return const_cast<Ring&>(*this)[index]; }
  T& front() { return (*this)[begin_]; }
  const T& front() const { return (*this)[begin_]; }
  T& back() { return (*this)[end_ - 1]; }
  const T& back() const { return (*this)[end_ - 1]; }

  uint32_t begin_index() const { return begin_; }  // of the oldest value
  uint32_t end_index() const { return end_; }      // that the next push gets
  uint32_t size() const { return end_ - begin_; }
  // How many values there may be.
  uint32_t capacity() const { return most_; }
  bool empty() const { return begin_ == end_; }
  bool full() const { return size() == most_; }

 private:
  static constexpr uint32_t kFirst = 16;  // values that the first memory holds

  bool grow() {
    if (capacity_ == most_ || arena_ == nullptr) return false;
    const uint32_t wanted = capacity_ == 0 ? std::min(kFirst, most_) : 2 * capacity_;
    const std::span<T> memory = arena_->make_span<T>(wanted);
    if (memory.data() == nullptr) return false;
    for (uint32_t i = begin_; i != end_; ++i) {
      memory[i & (wanted - 1)] = std::move(slots_[i & (capacity_ - 1)]);
    }
    slots_ = memory.data();
    capacity_ = wanted;
    return true;
  }

  T* slots_ = nullptr;
  Arena* arena_ = nullptr;
  uint32_t capacity_ = 0;  // values there is memory for
  uint32_t most_ = 0;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
};

}  // namespace uet
