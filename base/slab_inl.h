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
Result<void> Slab<T>::create(Arena& arena, Room room, Reuse reuse) {
  if (room.first > room.most || room.most > kCapacityMax) return Errc::invalid;
  arena_ = &arena;
  most_ = room.most;
  return create(arena, room.first, reuse);
}

template <class T>
bool Slab<T>::add_next_chunk() {
  if (capacity_ >= most_) return false;
  const uint32_t first = uint32_t{1} << (shift_ + chunk_count_ - 1);
  if (first > kCapacityMax) return false;
  return add_chunk(*arena_, first, std::min({first, most_ - capacity_, kCapacityMax - first})).ok();
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
bool Slab<T>::take_fresh(Place& at) {
  if (fresh_offset_ == chunks_[fresh_chunk_].count) {
    if (fresh_chunk_ + 1 >= chunk_count_) return false;
    ++fresh_chunk_;
    fresh_offset_ = 0;
  }
  const Chunk& c = chunks_[fresh_chunk_];
  at = {&c.slots[fresh_offset_], &c.meta[fresh_offset_], c.first + fresh_offset_};
  *at.meta = uint32_t{1} << kLinkBits;
  ++fresh_offset_;
  ++used_;
  return true;
}

template <class T>
bool Slab<T>::take_freed(Place& at) {
  if (free_head_ == kEnd) return false;
  at = place_at(free_head_);
  free_head_ = *at.meta & kLinkMask;
  return true;
}

template <class T>
bool Slab<T>::take(Place& at) {
  const bool is_freed_first =
      reuse_ == Reuse::soon || (reuse_ == Reuse::rested && used_ - size_ >= kRest);
  const bool is_taken =
      is_freed_first ? take_freed(at) || take_fresh(at) : take_fresh(at) || take_freed(at);
  return is_taken || (add_next_chunk() && take_fresh(at));
}

template <class T>
template <class... Args>
T* Slab<T>::alloc(Args&&... args) {
  Place at;
  if (!take(at)) return nullptr;
  *at.meta |= kLive;
  ++size_;
  if constexpr (std::is_constructible_v<T, Args...>) {
    return new (at.slot) T(std::forward<Args>(args)...);
  } else {
    return new (at.slot) T{std::forward<Args>(args)...};  // aggregates; clang 14 needs the braces
  }
}

template <class T>
void Slab<T>::free(T* object) {
  const Place at = place_of(object);
  UET_ASSERT((*at.meta & kLinkMask) == kLive);
  object->~T();

  const uint32_t old = *at.meta >> kLinkBits;
  const uint32_t generation = (old == kGenerationMax ? 1 : old + 1) << kLinkBits;
  --size_;
  if (free_head_ == kEnd) {
    *at.meta = generation | kEnd;
    free_head_ = free_tail_ = at.index;
  } else if (reuse_ == Reuse::soon) {
    *at.meta = generation | free_head_;
    free_head_ = at.index;
  } else {
    *at.meta = generation | kEnd;
    uint32_t& tail = *place_at(free_tail_).meta;
    tail = (tail & ~kLinkMask) | at.index;
    free_tail_ = at.index;
  }
}

template <class T>
bool Slab<T>::holds(const Chunk& chunk, const T* object) const {
  // Wraps to a large number for an object before the chunk.
  const uintptr_t distance =
      reinterpret_cast<uintptr_t>(object) - reinterpret_cast<uintptr_t>(chunk.slots);
  return distance < sizeof(Slot) * chunk.count;
}

template <class T>
typename Slab<T>::Place Slab<T>::place_of(const T* object) const {
  if (!holds(chunks_[last_chunk_], object)) {
    last_chunk_ = 0;
    while (last_chunk_ < chunk_count_ && !holds(chunks_[last_chunk_], object)) ++last_chunk_;
    UET_ASSERT(last_chunk_ < chunk_count_ && "the object is not of this slab");
  }
  const Chunk& c = chunks_[last_chunk_];
  const uintptr_t distance =
      reinterpret_cast<uintptr_t>(object) - reinterpret_cast<uintptr_t>(c.slots);
  UET_ASSERT(distance % sizeof(Slot) == 0);
  const auto offset = static_cast<uint32_t>(distance / sizeof(Slot));
  return {&c.slots[offset], &c.meta[offset], c.first + offset};
}

template <class T>
template <class Fn>
void Slab<T>::for_each(Fn&& fn) {
  if (size_ == 0) return;
  for (uint32_t i = 0; i <= fresh_chunk_; ++i) {  // no slot after these was ever used
    const Chunk& c = chunks_[i];
    const uint32_t used = i == fresh_chunk_ ? fresh_offset_ : c.count;
    for (uint32_t j = 0; j < used; ++j) {
      if ((c.meta[j] & kLinkMask) == kLive) fn(c.slots[j].value);
    }
  }
}

}  // namespace uet
