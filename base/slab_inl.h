// Bodies of the longer Slab members. Included by base/slab.h only.
#pragma once

#include "base/slab.h"

#include <algorithm>

namespace uet {

template <class T>
Slab<T>::~Slab() {
  if constexpr (!std::is_trivially_destructible_v<T>) {
    for_each([](T& object) { object.~T(); });
  }
}

template <class T>
Result<void> Slab<T>::create(Arena& arena, uint32_t capacity, Reuse reuse) {
  UET_ASSERT(chunk_count_ == 0);
  if (capacity == 0 || capacity > kCapacityMax) return Errc::invalid;
  reuse_ = reuse;
  shift_ = static_cast<uint32_t>(std::bit_width(capacity - 1));
  return add_chunk(arena, 0, capacity);
}

template <class T>
Result<void> Slab<T>::grow(Arena& arena, uint32_t extra) {
  UET_ASSERT(chunk_count_ != 0);
  for (uint32_t added = 0; added < extra;) {
    const uint32_t first = uint32_t{1} << (shift_ + chunk_count_ - 1);
    if (first > kCapacityMax) return Errc::no_memory;  // the index bits are used up
    const uint32_t count = std::min(first, kCapacityMax - first);
    UET_CHECK(add_chunk(arena, first, count));
    added += count;
  }
  return {};
}

template <class T>
Result<void> Slab<T>::add_chunk(Arena& arena, uint32_t first, uint32_t count) {
  Chunk c{.first = first, .count = count};
  c.slots = static_cast<Slot*>(arena.allocate(sizeof(Slot) * count, alignof(Slot)));
  if (c.slots == nullptr) return Errc::no_memory;
  // All zero: generation 0 makes a forged handle to a slot never used resolve to null.
  c.meta = arena.make_span<uint32_t>(count).data();
  if (c.meta == nullptr) return Errc::no_memory;
  chunks_[chunk_count_++] = c;
  capacity_ += count;
  return {};
}

template <class T>
bool Slab<T>::take_fresh(uint32_t& index) {
  if (fresh_offset_ == chunks_[fresh_chunk_].count) {
    if (fresh_chunk_ + 1 >= chunk_count_) return false;
    ++fresh_chunk_;
    fresh_offset_ = 0;
  }
  Chunk& c = chunks_[fresh_chunk_];
  c.meta[fresh_offset_] = uint32_t{1} << kLinkBits;
  index = c.first + fresh_offset_++;
  ++used_;
  return true;
}

template <class T>
bool Slab<T>::take_freed(uint32_t& index) {
  if (free_head_ == kEnd) return false;
  index = free_head_;
  free_head_ = meta(index) & kLinkMask;
  return true;
}

template <class T>
bool Slab<T>::take(uint32_t& index) {
  const bool is_freed_first =
      reuse_ == Reuse::soon || (reuse_ == Reuse::rested && used_ - size_ >= kRest);
  return is_freed_first ? take_freed(index) || take_fresh(index)
                        : take_fresh(index) || take_freed(index);
}

template <class T>
template <class... Args>
T* Slab<T>::alloc(Args&&... args) {
  uint32_t index = 0;
  if (!take(index)) return nullptr;
  set_link(index, kLive);
  ++size_;
  const Chunk& c = chunks_[chunk_of(index)];
  void* const memory = &c.slots[index - c.first];
  if constexpr (std::is_constructible_v<T, Args...>) {
    return new (memory) T(std::forward<Args>(args)...);
  } else {
    return new (memory) T{std::forward<Args>(args)...};  // aggregates; clang 14 needs the braces
  }
}

template <class T>
void Slab<T>::free(T* object) {
  const uint32_t index = index_of(object);
  uint32_t& word = meta(index);
  UET_ASSERT((word & kLinkMask) == kLive);
  object->~T();

  const uint32_t generation = word >> kLinkBits;
  word = (generation == kGenerationMax ? 1 : generation + 1) << kLinkBits;
  --size_;
  if (free_head_ == kEnd) {
    set_link(index, kEnd);
    free_head_ = free_tail_ = index;
  } else if (reuse_ == Reuse::soon) {
    set_link(index, free_head_);
    free_head_ = index;
  } else {
    set_link(index, kEnd);
    set_link(free_tail_, index);
    free_tail_ = index;
  }
}

template <class T>
uint32_t Slab<T>::index_of(const T* object) const {
  const auto at = reinterpret_cast<uintptr_t>(object);
  // The newest chunk has half of all slots.
  for (uint32_t i = chunk_count_; i-- > 0;) {
    const Chunk& c = chunks_[i];
    const auto begin = reinterpret_cast<uintptr_t>(c.slots);
    if (at < begin || at - begin >= sizeof(Slot) * c.count) continue;
    UET_ASSERT((at - begin) % sizeof(Slot) == 0);
    return c.first + static_cast<uint32_t>((at - begin) / sizeof(Slot));
  }
  assert_failed("the object is not of this slab", __FILE__, __LINE__);
}

template <class T>
template <class Fn>
void Slab<T>::for_each(Fn&& fn) {
  for (uint32_t i = 0; i < chunk_count_; ++i) {
    const Chunk& c = chunks_[i];
    for (uint32_t j = 0; j < c.count; ++j) {
      if ((c.meta[j] & kLinkMask) == kLive) fn(c.slots[j].value);
    }
  }
}

}  // namespace uet
