// A hash map in arena memory, with a bound up to which it grows as it fills: open
// addressing with linear probing, erasure by shifting back, so no tombstones pile up. Deterministic
// for a seed and an order of calls.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "base/hash.h"
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

  // Once, before anything else: for up to `capacity` pairs. The seed comes from the configuration,
  // secret from the network. Errc::invalid for a capacity of 0 or above kCapacityMax. Takes no
  // memory yet; insert() makes room as it is needed: a walk over all pairs each time that twice as
  // many are in it as ever before. The arena must outlive this object.
  Result<void> create(Arena& arena, uint32_t capacity, uint64_t seed) {
    return create(arena, Room{std::min(capacity, kFirst), capacity}, seed);
  }

  // The same for up to room.most pairs, with room for room.first when there is one.
  Result<void> create(Arena& arena, Room room, uint64_t seed) {
    UET_ASSERT(arena_ == nullptr);
    if (room.first == 0 || room.first > room.most || room.most > kCapacityMax) return Errc::invalid;
    arena_ = &arena;
    first_ = room.first;
    most_ = room.most;
    seed_ = seed;
    return {};
  }

  // The value of the key; null when it has none.
  Value* find(const Key& key) {
    const uint32_t at = locate(key, tag_of(key));
    return at == kAbsent ? nullptr : &slots_[at].value;
  }
  const Value* find(const Key& key) const { return const_cast<HashMap*>(this)->find(key); }

  // Whether one more pair fits. Takes memory for it.
  [[nodiscard]] bool make_room() { return size_ < room_ || add_room(); }

  // Adds a pair and returns its value. Errc::exists when the key is there already, Errc::again
  // when the map is full or the arena has no memory for more; nothing was changed then.
  Result<Value*> insert(const Key& key, const Value& value) {
    const uint32_t tag = tag_of(key);
    if (locate(key, tag) != kAbsent) return Errc::exists;
    if (size_ == room_ && !add_room()) return Errc::again;
    ++size_;
    return &place(Slot{key, value}, tag)->value;
  }

  // Whether there was such a key.
  bool erase(const Key& key);

  // Calls fn(const Key&, Value&) for every pair; fn must not change the map. The order is
  // unspecified, but the same for the same seed and calls.
  template <class Fn>
  void for_each(Fn&& fn) {
    for (uint32_t i = 0; i < slots_.size(); ++i) {
      if (tags_[i] != kFree) fn(static_cast<const Key&>(slots_[i].key), slots_[i].value);
    }
  }

  uint32_t size() const { return size_; }
  // How many pairs there may be.
  uint32_t capacity() const { return most_; }
  bool full() const { return size_ >= most_; }

 private:
  struct Slot {
    Key key;
    Value value;
  };
  static constexpr uint32_t kFirst = 8;  // pairs that there is room for at first
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kUsed = uint32_t{1} << 31;  // set in every tag, so none is kFree
  static constexpr uint32_t kAbsent = ~uint32_t{0};

  uint32_t tag_of(const Key& key) const {
    return static_cast<uint32_t>(hash_of(key, seed_) >> 32) | kUsed;
  }
  uint32_t home_of(uint32_t tag) const { return tag & mask_; }
  uint32_t after(uint32_t at) const { return (at + 1) & mask_; }

  uint32_t locate(const Key& key, uint32_t tag) const {
    if (slots_.empty()) return kAbsent;
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

  bool add_room();

  std::span<uint32_t> tags_;  // apart from the slots: a probe mostly stays in one cache line
  std::span<Slot> slots_;
  uint32_t mask_ = 0;
  uint32_t size_ = 0;
  uint32_t room_ = 0;  // pairs that fit without more memory
  uint32_t first_ = 0;
  uint32_t most_ = 0;
  uint64_t seed_ = 0;
  Arena* arena_ = nullptr;
};

// The old slots stay behind in the arena; doubling keeps that waste below the final size.
template <class Key, class Value>
bool HashMap<Key, Value>::add_room() {
  if (room_ >= most_) return false;
  const uint32_t room = std::min(most_, std::max(2 * room_, first_));
  // At most three quarters full: a miss then costs some eight tags, most often in one line.
  const uint32_t slot_count = std::bit_ceil(room + room / 3 + 1);
  if (slot_count > slots_.size()) {
    const auto tags = arena_->make_span<uint32_t>(slot_count);
    auto* const first =
        static_cast<Slot*>(arena_->allocate(sizeof(Slot) * slot_count, alignof(Slot)));
    if (tags.data() == nullptr || first == nullptr) return false;

    const std::span<uint32_t> old_tags = tags_;
    const std::span<Slot> old_slots = slots_;
    tags_ = tags;
    slots_ = {first, slot_count};
    mask_ = slot_count - 1;
    for (uint32_t i = 0; i < old_slots.size(); ++i) {
      if (old_tags[i] != kFree) place(old_slots[i], old_tags[i]);
    }
  }
  room_ = room;
  return true;
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
