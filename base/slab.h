// Pools of equal objects with 32-bit handles. A handle outlives its object: it then resolves to
// null, which is how a late packet learns that its connection is gone. Memory comes from an arena,
// a chunk at a time when more objects are in use than ever before; none at set-up.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "base/result.h"

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace uet {

// Names an object of a Slab<T>: slot index (22 bits) and generation (10 bits, never 0). A handle
// kept while its slot is reused 1023 times names the wrong object; Reuse::late makes that take
// 1023 * capacity frees.
template <class T>
class Handle {
 public:
  static constexpr unsigned kIndexBits = 22;
  static constexpr uint32_t kIndexMask = (uint32_t{1} << kIndexBits) - 1;

  constexpr Handle() = default;  // none
  constexpr Handle(uint32_t index, uint32_t generation)
      : word_((generation << kIndexBits) | index) {}
  // For carrying a handle through an opaque 32-bit field.
  static constexpr Handle from_word(uint32_t word) {
    Handle h;
    h.word_ = word;
    return h;
  }

  constexpr uint32_t word() const { return word_; }
  constexpr uint32_t index() const { return word_ & kIndexMask; }
  constexpr uint32_t generation() const { return word_ >> kIndexBits; }
  constexpr explicit operator bool() const { return word_ != 0; }
  constexpr auto operator<=>(const Handle&) const = default;

 private:
  uint32_t word_ = 0;
};

enum class Reuse : uint8_t {
  soon,    // last freed, first reused: warm in the cache
  late,    // first freed, last reused, after all slots never used: stale handles stay stale longest
  rested,  // first freed, first reused, once 64 are free: stale for long, yet warm in the cache
};

// Room of a pool or table that takes its memory as it is used: up to `most` objects. `first` is how
// many a table has room for at once, and of a pool with Reuse::late or rested the slots it uses
// before it takes freed ones; both double as they are used up.
struct Room {
  uint32_t first = 0;
  uint32_t most = 0;
};

// Slots live in chunks that never move: chunk 0 has some of the lowest indices; each later one
// doubles the index space, so the chunk of an index is a bit operation.
template <class T>
class Slab {
 public:
  static constexpr uint32_t kCapacityMax = Handle<T>::kIndexMask - 1;

  Slab() = default;
  ~Slab();  // destroys the objects still alive
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  // Once, before anything else: for up to `capacity` objects, 1 .. kCapacityMax. Errc::invalid for
  // the capacity. Takes no memory yet; the arena must outlive this object.
  Result<void> create(Arena& arena, uint32_t capacity, Reuse reuse = Reuse::soon) {
    return create(arena, Room{capacity, capacity}, reuse);
  }
  // The same for up to room.most objects. Errc::invalid also when room.first is 0 or above it.
  Result<void> create(Arena& arena, Room room, Reuse reuse = Reuse::soon);

  // Whether alloc() gives an object. Takes memory for it.
  [[nodiscard]] bool make_room() { return free_head_ != kEnd || used_ != made_ || add_chunk(); }

  // Constructs a T, or returns null when full, or when the arena has no memory for a chunk. O(1).
  template <class... Args>
  [[nodiscard]] T* alloc(Args&&... args);

  // Destroys the object; its handles are stale from now on. Asserts that it is live and of this
  // slab.
  void free(T* object);

  // The handle of a live object. Cost: O(chunks), but O(1) in the chunk that was last used, which
  // it notes: not for two threads at once.
  Handle<T> handle(const T* object) const {
    const Place at = place_of(object);
    UET_ASSERT((*at.meta & kLinkMask) == kLive);
    return {at.index, *at.meta >> kLinkBits};
  }

  // The object, or null when it is gone or the handle is not one of this slab. O(1).
  T* get(Handle<T> h) {
    const uint32_t index = h.index();
    if (index >= made_) return nullptr;
    const Chunk& c = chunks_[chunk_of(index)];
    if (*c.meta(index) != ((h.generation() << kLinkBits) | kLive)) return nullptr;
    return &c.slot(index)->value;
  }
  const T* get(Handle<T> h) const { return const_cast<Slab*>(this)->get(h); }
  // The slot of that index, whatever its generation; one that was in use once. O(1).
  T& at(uint32_t index) {
    UET_DEBUG_ASSERT(index < used_);
    return chunks_[chunk_of(index)].slot(index)->value;
  }

  // Calls fn(T&) for every live object in index order. fn may free any object; objects it
  // allocates may or may not be visited.
  template <class Fn>
  void for_each(Fn&& fn);

  uint32_t size() const { return size_; }
  // How many there may be at once.
  uint32_t capacity() const { return most_; }
  bool full() const { return size_ >= most_; }

 private:
  union Slot {
    Slot() {}
    ~Slot() {}
    T value;
  };
  // Both as if the chunk began at index 0.
  struct Chunk {
    uintptr_t slots_from = 0;
    uintptr_t meta_from = 0;  // generation << kLinkBits | link

    Slot* slot(uint32_t index) const {
      return reinterpret_cast<Slot*>(slots_from + uintptr_t{index} * sizeof(Slot));
    }
    uint32_t* meta(uint32_t index) const {
      return reinterpret_cast<uint32_t*>(meta_from + uintptr_t{index} * sizeof(uint32_t));
    }
  };
  // One slot, with what is said of it elsewhere.
  struct Place {
    Slot* slot = nullptr;
    uint32_t* meta = nullptr;
    uint32_t index = 0;
  };
  static constexpr unsigned kLinkBits = Handle<T>::kIndexBits;
  static constexpr uint32_t kLinkMask = Handle<T>::kIndexMask;
  static constexpr uint32_t kLive = kLinkMask;     // link of a slot in use
  static constexpr uint32_t kEnd = kLinkMask - 1;  // link of the last free slot
  static constexpr uint32_t kChunkMax = Handle<T>::kIndexBits + 1;
  static constexpr uint32_t kGenerationMax = (uint32_t{1} << (32 - kLinkBits)) - 1;
  static constexpr uint32_t kRest = 64;  // freed slots that wait, with Reuse::rested

  // Of chunk 0; at least one slot.
  static constexpr size_t kChunkBytes = 2048;
  static constexpr uint32_t kShift = static_cast<uint32_t>(
      std::bit_width(sizeof(T) < kChunkBytes ? kChunkBytes / sizeof(T) : 1) - 1);

  // Chunk 0 covers indices below 2^kShift, chunk j those below 2^(kShift + j).
  static constexpr uint32_t chunk_of(uint32_t index) {
    return static_cast<uint32_t>(std::bit_width(index >> kShift));
  }
  static constexpr uint32_t first_of(uint32_t chunk) {
    return chunk == 0 ? 0 : uint32_t{1} << (kShift + chunk - 1);
  }
  Place place_at(uint32_t index) const {
    const Chunk& c = chunks_[chunk_of(index)];
    return {c.slot(index), c.meta(index), index};
  }
  Place place_of(const T* object) const;
  bool holds(uint32_t chunk, const T* object) const;
  bool add_chunk();
  bool take_fresh(Place& at);
  bool take_freed(Place& at);
  bool take(Place& at);

  uint32_t free_head_ = kEnd;  // freed slots, linked through their meta words
  uint32_t free_tail_ = kEnd;
  uint32_t size_ = 0;
  uint32_t most_ = 0;
  uint32_t soft_ = 0;                // slots to use before freed ones, unless Reuse::soon
  uint32_t used_ = 0;                // slots ever used, those below this index
  uint32_t made_ = 0;                // slots there is memory for
  mutable uint32_t last_chunk_ = 0;  // where an object was last looked for and found
  Arena* arena_ = nullptr;
  Reuse reuse_ = Reuse::soon;
  std::array<Chunk, kChunkMax + 1> chunks_{};
};

}  // namespace uet

#include "base/slab_inl.h"
