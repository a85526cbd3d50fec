// A hash map in arena memory, of fixed capacity or with a bound up to which it grows: open
// addressing with linear probing, erasure by shifting back, so no tombstones pile up. Deterministic
// for a seed and an order of calls.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "base/hash.h"
#include "base/prefetch.h"
#include "base/result.h"
#include "base/slab.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>

namespace uet {

// Key: trivially copyable, with == and hash_of(key, seed) (base/hash.h). Value: trivially copyable,
// mostly a Handle. Pointers to values are good until the next insert, erase or grow.
template <class Key, class Value>
class HashMap {
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value>);

 public:
  static constexpr uint32_t kCapacityMax = uint32_t{1} << 29;

  HashMap() = default;  // full with nothing until create
  HashMap(const HashMap&) = delete;
  HashMap& operator=(const HashMap&) = delete;

  // Once, before anything else. The seed comes from the configuration, secret from the network.
  // Errc::invalid for a capacity of 0 or above kCapacityMax, Errc::no_memory.
  Result<void> create(Arena& arena, uint32_t capacity, uint64_t seed) {
    UET_ASSERT(slots_.empty());
    seed_ = seed;
    return resize(arena, capacity);
  }

  // The same, and insert() makes room for up to room.most as it is needed: a walk over all pairs
  // each time that twice as many are in it as ever before. The arena must outlive this object.
  Result<void> create(Arena& arena, Room room, uint64_t seed) {
    if (room.first > room.most || room.most > kCapacityMax) return Errc::invalid;
    arena_ = &arena;
    most_ = room.most;
    return create(arena, room.first, seed);
  }

  // A set-up act: room for at least `extra` more. On an error nothing was changed. The old slots
  // stay behind in the arena; at least doubling keeps that waste below the final size.
  Result<void> grow(Arena& arena, uint32_t extra) {
    UET_ASSERT(!slots_.empty());
    if (extra > kCapacityMax - capacity_) return Errc::invalid;
    if (extra == 0) return {};
    return resize(arena, capacity_ + extra);
  }

  // The value of the key; null when it has none.
  Value* find(const Key& key) {
    const uint32_t at = locate(key, tag_of(key));
    return at == kAbsent ? nullptr : &slots_[at].value;
  }
  const Value* find(const Key& key) const { return const_cast<HashMap*>(this)->find(key); }

  // Adds a pair and returns its value. Errc::exists when the key is there already, Errc::again
  // when the map is full or the arena has no memory for more; nothing was changed then.
  Result<Value*> insert(const Key& key, const Value& value) {
    const uint32_t tag = tag_of(key);
    if (locate(key, tag) != kAbsent) return Errc::exists;
    if (size_ == capacity_ && !add_room()) return Errc::again;
    if (size_ == 0) write_first(&tags_[home_of(tag)], sizeof(uint32_t));
    ++size_;
    return &place(Slot{key, value}, tag)->value;
  }

  // Whether the key was in the map.
  bool erase(const Key& key);

  // Calls fn(const Key&, Value&) for every pair; fn must not change the map. The order is
  // unspecified, but the same for the same seed and calls.
  template <class Fn>
  void for_each(Fn&& fn) {
    for (uint32_t i = 0; i < slots_.size(); ++i) {
      if (tags_[i] != kFree) fn(static_cast<const Key&>(slots_[i].key), slots_[i].value);
    }
  }

  // Prefetches the tags; of a large table the first of them.
  void prefetch() const {
    uet::prefetch(tags_.data(), std::min(tags_.size_bytes(), 2 * kLineBytes));
  }
  uint32_t size() const { return size_; }
  uint32_t capacity() const { return capacity_; }
  bool full() const { return size_ == capacity_ && capacity_ >= most_; }

 private:
  struct Slot {
    Key key;
    Value value;
  };
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kUsed = uint32_t{1} << 31;  // set in every tag, so none is kFree
  static constexpr uint32_t kAbsent = ~uint32_t{0};

  uint32_t tag_of(const Key& key) const {
    return static_cast<uint32_t>(hash_of(key, seed_) >> 32) | kUsed;
  }
  uint32_t home_of(uint32_t tag) const { return tag & mask_; }
  uint32_t after(uint32_t at) const { return (at + 1) & mask_; }

  uint32_t locate(const Key& key, uint32_t tag) const {
    if (size_ == 0) return kAbsent;  // no page is read that nothing was written to
    for (uint32_t at = home_of(tag); tags_[at] != kFree; at = after(at)) {
      if (tags_[at] == tag && slots_[at].key == key) return at;
    }
    return kAbsent;
  }

  Slot* place(const Slot& slot, uint32_t tag) {
    uint32_t at = home_of(tag);
    while (tags_[at] != kFree) at = after(at);
    tags_[at] = tag;
    slots_[at] = slot;
    return &slots_[at];
  }

  Result<void> resize(Arena& arena, uint32_t capacity);
  bool add_room() {
    if (capacity_ >= most_) return false;
    const uint32_t wanted = std::min(most_, std::max(2 * capacity_, 8U));
    return resize(*arena_, wanted).ok();
  }

  std::span<uint32_t> tags_;  // apart from the slots: a probe mostly stays in one cache line
  std::span<Slot> slots_;
  uint32_t mask_ = 0;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
  uint64_t seed_ = 0;
  uint32_t most_ = 0;       // to which insert() makes room
  Arena* arena_ = nullptr;  // for that
};

template <class Key, class Value>
Result<void> HashMap<Key, Value>::resize(Arena& arena, uint32_t capacity) {
  if (capacity == 0 || capacity > kCapacityMax) return Errc::invalid;
  // At most three quarters full: a miss then costs some eight tags, most often in one line.
  const uint32_t slot_count = std::bit_ceil(capacity + capacity / 3 + 1);
  if (slot_count > slots_.size()) {
    const auto tags = arena.make_span<uint32_t>(slot_count);
    auto* const first =
        static_cast<Slot*>(arena.allocate(sizeof(Slot) * slot_count, alignof(Slot)));
    if (tags.data() == nullptr || first == nullptr) return Errc::no_memory;

    const std::span<uint32_t> old_tags = tags_;
    const std::span<Slot> old_slots = slots_;
    tags_ = tags;
    slots_ = {first, slot_count};
    mask_ = slot_count - 1;
    if (size_ != 0) write_first(tags.data(), tags.size_bytes());
    for (uint32_t i = 0; i < old_slots.size(); ++i) {
      if (old_tags[i] != kFree) place(old_slots[i], old_tags[i]);
    }
  }
  capacity_ = capacity;
  return {};
}

template <class Key, class Value>
bool HashMap<Key, Value>::erase(const Key& key) {
  uint32_t hole = locate(key, tag_of(key));
  if (hole == kAbsent) return false;
  // Pull back every later entry of the run whose home is not between the hole and itself.
  for (uint32_t at = after(hole); tags_[at] != kFree; at = after(at)) {
    const uint32_t distance_from_home = (at - home_of(tags_[at])) & mask_;
    const uint32_t distance_from_hole = (at - hole) & mask_;
    if (distance_from_home < distance_from_hole) continue;
    tags_[hole] = tags_[at];
    slots_[hole] = slots_[at];
    hole = at;
  }
  tags_[hole] = kFree;
  --size_;
  return true;
}

}  // namespace uet
