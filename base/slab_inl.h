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
Result<void> Slab<T>::create(Arena& arena, Room room, Reuse reuse) {
  UET_ASSERT(arena_ == nullptr);
  if (room.first == 0 || room.first > room.most || room.most > kCapacityMax) return Errc::invalid;
  arena_ = &arena;
  most_ = room.most;
  soft_ = room.first;
  reuse_ = reuse;
  return {};
}

template <class T>
bool Slab<T>::add_chunk() {
  if (made_ == most_) return false;
  const uint32_t chunk = chunk_of(made_);
  const uint32_t count = std::min(made_ == 0 ? uint32_t{1} << kShift : made_, most_ - made_);
  void* const slots = arena_->allocate(sizeof(Slot) * count, alignof(Slot));
  if (slots == nullptr) return false;
  // All zero: generation 0 makes a forged handle to a slot never used resolve to null.
  void* const meta = arena_->allocate(sizeof(uint32_t) * count, alignof(uint32_t));
  if (meta == nullptr) return false;
  chunks_[chunk] = {reinterpret_cast<uintptr_t>(slots) - uintptr_t{made_} * sizeof(Slot),
                    reinterpret_cast<uintptr_t>(meta) - uintptr_t{made_} * sizeof(uint32_t)};
  made_ += count;
  return true;
}

template <class T>
bool Slab<T>::take_fresh(Place& at) {
  if (used_ == made_ && !add_chunk()) return false;
  if (used_ == soft_) soft_ = std::min(2 * soft_, most_);
  at = place_at(used_);
  *at.meta = uint32_t{1} << kLinkBits;
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
  const bool is_freed_first = reuse_ == Reuse::soon || used_ >= soft_ ||
                              (reuse_ == Reuse::rested && used_ - size_ >= kRest);
  return is_freed_first ? take_freed(at) || take_fresh(at) : take_fresh(at) || take_freed(at);
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
bool Slab<T>::holds(uint32_t chunk, const T* object) const {
  const uint32_t first = first_of(chunk);
  const uint32_t count = std::min(first_of(chunk + 1), made_) - first;
  // Wraps to a large number for an object before the chunk.
  const uintptr_t distance =
      reinterpret_cast<uintptr_t>(object) - reinterpret_cast<uintptr_t>(chunks_[chunk].slot(first));
  return distance < sizeof(Slot) * count;
}

// The newest chunk has half of all slots, so it is looked at first.
template <class T>
typename Slab<T>::Place Slab<T>::place_of(const T* object) const {
  UET_ASSERT(made_ != 0);
  if (!holds(last_chunk_, object)) {
    last_chunk_ = chunk_of(made_ - 1);
    while (!holds(last_chunk_, object)) {
      UET_ASSERT(last_chunk_ != 0 && "the object is not of this slab");
      --last_chunk_;
    }
  }
  const Chunk& c = chunks_[last_chunk_];
  const uintptr_t distance = reinterpret_cast<uintptr_t>(object) - c.slots_from;
  UET_ASSERT(distance % sizeof(Slot) == 0);
  const auto index = static_cast<uint32_t>(distance / sizeof(Slot));
  return {c.slot(index), c.meta(index), index};
}

template <class T>
template <class Fn>
void Slab<T>::for_each(Fn&& fn) {
  if (size_ == 0) return;
  for (uint32_t chunk = 0; first_of(chunk) < used_; ++chunk) {
    const Chunk c = chunks_[chunk];
    const uint32_t end = std::min(first_of(chunk + 1), used_);
    for (uint32_t i = first_of(chunk); i < end; ++i) {
      if ((*c.meta(i) & kLinkMask) == kLive) fn(c.slot(i)->value);
    }
  }
}

}  // namespace uet
