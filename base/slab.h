// Pools of equal objects with 32-bit handles. A handle outlives its object: it then resolves to
// null, which is how a late packet learns that its connection is gone. Memory comes from an arena:
// at set-up, or a chunk at a time when more objects are in use than ever before.
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

// Room of a pool that takes its memory as it is used: so many at first, and up to `most`.
struct Room {
  uint32_t first = 0;
  uint32_t most = 0;
};

// Slots live in chunks that never move: chunk 0 has the capacity asked for at create; each later
// one doubles the index space, so the chunk of an index is a bit operation.
template <class T>
class Slab {
 public:
  static constexpr uint32_t kCapacityMax = Handle<T>::kIndexMask - 1;

  Slab() = default;
  ~Slab();  // destroys the objects still alive
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  // Once, before anything else. 1 <= capacity <= kCapacityMax. Errc::no_memory when the arena has
  // none, Errc::invalid for the capacity.
  Result<void> create(Arena& arena, uint32_t capacity, Reuse reuse = Reuse::soon);
  // The same with chunks that alloc() adds, up to room.most objects in all. The arena must outlive
  // this object.
  Result<void> create(Arena& arena, Room room, Reuse reuse = Reuse::soon);

  // A set-up act: room for at least `extra` more objects (chunks are added whole, so each call at
  // least doubles the index space). Objects and handles stay valid. On an error the chunks that
  // did fit stay.
  Result<void> grow(Arena& arena, uint32_t extra);

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
    const Chunk& c = chunks_[chunk_of(index)];
    const uint32_t offset = index - c.first;
    if (offset >= c.count || c.meta[offset] != ((h.generation() << kLinkBits) | kLive)) {
      return nullptr;
    }
    return &c.slots[offset].value;
  }
  const T* get(Handle<T> h) const { return const_cast<Slab*>(this)->get(h); }
  // The slot of that index, whatever its generation; one that was in use once. O(1).
  T& at(uint32_t index) {
    const Chunk& c = chunks_[chunk_of(index)];
    UET_DEBUG_ASSERT(index - c.first < c.count);
    return c.slots[index - c.first].value;
  }

  // Calls fn(T&) for every live object in index order. fn may free any object; objects it
  // allocates may or may not be visited.
  template <class Fn>
  void for_each(Fn&& fn);

  uint32_t size() const { return size_; }
  uint32_t capacity() const { return capacity_; }
  bool full() const { return size_ >= most_ && size_ == capacity_; }

 private:
  union Slot {
    Slot() {}
    ~Slot() {}
    T value;
  };
  struct Chunk {
    Slot* slots = nullptr;
    uint32_t* meta = nullptr;  // generation << kLinkBits | link
    uint32_t first = 0;        // index of slot 0
    uint32_t count = 0;
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

  // Chunk 0 covers indices below 2^shift_, chunk j those below 2^(shift_ + j).
  uint32_t chunk_of(uint32_t index) const {
    return static_cast<uint32_t>(std::bit_width(index >> shift_));
  }
  Place place_at(uint32_t index) const {
    const Chunk& c = chunks_[chunk_of(index)];
    return {&c.slots[index - c.first], &c.meta[index - c.first], index};
  }
  Place place_of(const T* object) const;
  bool holds(const Chunk& chunk, const T* object) const;
  Result<void> add_chunk(Arena& arena, uint32_t first, uint32_t count);
  bool add_next_chunk();
  bool take_fresh(Place& at);
  bool take_freed(Place& at);
  bool take(Place& at);

  uint32_t free_head_ = kEnd;  // freed slots, linked through their meta words
  uint32_t free_tail_ = kEnd;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
  uint32_t most_ = 0;         // to which alloc() adds chunks
  Arena* arena_ = nullptr;    // for these
  uint32_t fresh_chunk_ = 0;  // slots never used: from fresh_offset_ in this chunk
  uint32_t fresh_offset_ = 0;
  uint32_t used_ = 0;  // slots ever used
  uint32_t chunk_count_ = 0;
  uint32_t shift_ = 0;
  mutable uint32_t last_chunk_ = 0;  // where an object was last looked for and found
  Reuse reuse_ = Reuse::soon;
  std::array<Chunk, kChunkMax + 1> chunks_{};  // those from chunk_count_ on are empty
};

}  // namespace uet

#include "base/slab_inl.h"
