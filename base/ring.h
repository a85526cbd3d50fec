// A ring of values addressed by an index that only grows (and wraps at 2^32), so that the index
// can be a PSN or any other sequence number. Memory from an arena or from the owner; no heap.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "base/result.h"

#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace uet {

// T is trivially copyable. A popped value stays in memory until it is overwritten.
template <class T>
class Ring {
 public:
  static constexpr uint32_t kCapacityMax = uint32_t{1} << 31;

  Ring() = default;  // capacity 0 until create or attach

  // Room for at least `capacity` values (rounded up to a power of two). The first value pushed
  // gets index `first`. Errc::no_memory, or Errc::invalid for a capacity of 0 or too large.
  Result<void> create(Arena& arena, uint32_t capacity, uint32_t first = 0) {
    if (capacity == 0 || capacity > kCapacityMax) return Errc::invalid;
    const std::span<T> memory = arena.make_zero_span<T>(std::bit_ceil(capacity));
    if (memory.data() == nullptr) return Errc::no_memory;
    attach(memory, first);
    return {};
  }

  // Uses memory of the caller, a power of two of values; starts empty. An empty span detaches.
  void attach(std::span<T> memory, uint32_t first = 0) {
    static_assert(std::is_trivially_copyable_v<T>);  // push() writes to raw memory
    UET_ASSERT(memory.empty() || std::has_single_bit(memory.size()));
    UET_ASSERT(memory.size() <= kCapacityMax);
    slots_ = memory.data();
    capacity_ = static_cast<uint32_t>(memory.size());
    clear(first);
  }

  // Appends and returns the index of the value. Asserts that there is room.
  uint32_t push(T value) {
    UET_ASSERT(!full());
    slots_[end_ & (capacity_ - 1)] = std::move(value);
    return end_++;
  }
  // Removes the oldest value. Asserts that the ring is not empty.
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

  uint32_t size() const { return end_ - begin_; }
  uint32_t capacity() const { return capacity_; }
  bool empty() const { return begin_ == end_; }
  bool full() const { return size() == capacity_; }

 private:
  T* slots_ = nullptr;
  uint32_t capacity_ = 0;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
};

}  // namespace uet
