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
  UET_ASSERT(slots_ == nullptr);
  const bool is_legal = room.first != 0 && room.first <= room.most && room.most <= kCapacityMax;
  if (!is_legal) return Errc::invalid;
  // All zero: generation 0 makes a forged handle to a slot never used resolve to null.
  constexpr size_t kAlign = std::max(alignof(Slot), alignof(uint32_t));
  const size_t meta_bytes = (sizeof(uint32_t) * room.most + kAlign - 1) / kAlign * kAlign;
  const size_t bytes = meta_bytes + sizeof(Slot) * room.most;
  const bool in_steps = arena.commits_in_steps(bytes);
  void* const memory = in_steps ? arena.reserve_apart(bytes) : arena.reserve(bytes, kAlign);
  if (memory == nullptr) return Errc::no_memory;
  arena.note_use((sizeof(Slot) + sizeof(uint32_t)) * room.first);
  slots_ = reinterpret_cast<Slot*>(static_cast<std::byte*>(memory) + meta_bytes);
  meta_bytes_ = meta_bytes;
  room_ = room.first;
  most_ = room.most;
  ready_ = in_steps ? 0 : most_;
  reuse_ = reuse;
  arena_ = &arena;
  return {};
}

template <class T>
bool Slab<T>::add_room() {
  if (room_ == most_) return false;
  const uint32_t more = std::min(room_, most_ - room_);
  arena_->note_use((sizeof(Slot) + sizeof(uint32_t)) * more);
  room_ += more;
  return true;
}

// Grows by a quarter: few steps, and little memory that is never used.
template <class T>
bool Slab<T>::make_ready() {
  constexpr size_t kStepBytes = 256 * 1024;
  const auto step = std::max<uint32_t>(ready_ / 4, kStepBytes / sizeof(Slot) + 1);
  const uint32_t until = ready_ + std::min(step, most_ - ready_);
  auto* const memory = reinterpret_cast<std::byte*>(slots_) - meta_bytes_;
  if (until == ready_ || !Arena::commit(memory, meta_bytes_ - sizeof(uint32_t) * until,
                                        meta_bytes_ + sizeof(Slot) * until)) {
    return false;
  }
  ready_ = until;
  return true;
}

template <class T>
uint32_t Slab<T>::take_fresh() {
  if (used_ == room_ || (used_ == ready_ && !make_ready())) return kEnd;
  meta(used_) = uint32_t{1} << kLinkBits;
  if constexpr (sizeof(Slot) <= kPageBytes) write_first(&slots_[used_], sizeof(Slot));
  return used_++;
}

template <class T>
uint32_t Slab<T>::take_freed() {
  const uint32_t index = free_head_;
  if (index != kEnd) free_head_ = meta(index) & kLinkMask;
  return index;
}

// The index of a slot, or kEnd.
template <class T>
uint32_t Slab<T>::take() {
  const bool is_freed_first =
      reuse_ == Reuse::soon || (reuse_ == Reuse::rested && used_ - size_ >= kRest);
  uint32_t index = is_freed_first ? take_freed() : take_fresh();
  if (index == kEnd) index = is_freed_first ? take_fresh() : take_freed();
  if (index == kEnd && add_room()) index = take_fresh();
  return index;
}

template <class T>
template <class... Args>
T* Slab<T>::alloc(Args&&... args) {
  const uint32_t index = take();
  if (index == kEnd) return nullptr;
  meta(index) |= kLive;
  ++size_;
  Slot* const slot = &slots_[index];
  if constexpr (std::is_constructible_v<T, Args...>) {
    return new (slot) T(std::forward<Args>(args)...);
  } else {
    return new (slot) T{std::forward<Args>(args)...};  // aggregates; clang 14 needs the braces
  }
}

template <class T>
void Slab<T>::free(T* object) {
  const uint32_t index = index_of(object);
  uint32_t& word = meta(index);
  UET_ASSERT((word & kLinkMask) == kLive);
  object->~T();

  const uint32_t old = word >> kLinkBits;
  const uint32_t generation = (old == kGenerationMax ? 1 : old + 1) << kLinkBits;
  --size_;
  if (free_head_ == kEnd) {
    word = generation | kEnd;
    free_head_ = free_tail_ = index;
  } else if (reuse_ == Reuse::soon) {
    word = generation | free_head_;
    free_head_ = index;
  } else {
    word = generation | kEnd;
    uint32_t& tail = meta(free_tail_);
    tail = (tail & ~kLinkMask) | index;
    free_tail_ = index;
  }
}

template <class T>
uint32_t Slab<T>::index_of(const T* object) const {
  // Wraps to a large number for an object before the slots.
  const uintptr_t distance =
      reinterpret_cast<uintptr_t>(object) - reinterpret_cast<uintptr_t>(slots_);
  const uintptr_t index = distance / sizeof(Slot);
  UET_ASSERT(index < used_ && "the object is not of this slab");
  UET_ASSERT(index * sizeof(Slot) == distance);
  return static_cast<uint32_t>(index);
}

template <class T>
template <class Fn>
void Slab<T>::for_each(Fn&& fn) {
  if (size_ == 0) return;
  for (uint32_t i = 0; i < used_; ++i) {  // no slot after these was ever used
    if ((meta(i) & kLinkMask) == kLive) fn(slots_[i].value);
  }
}

}  // namespace uet
