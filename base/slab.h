// Pools of equal objects with 32-bit handles. A handle outlives its object: it then resolves to
// null, so a late packet finds that its connection is gone. The slots are one array in an arena;
// the first use of a slot takes its page. The state words of the slots stand before the array, in
// reverse order, so that the first ones share a page.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "base/prefetch.h"
#include "base/result.h"

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

// Number of elements of a pool that grows with its use: at the start, and at most.
struct Room {
  uint32_t first = 0;
  uint32_t most = 0;
};

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
  Result<void> create(Arena& arena, uint32_t capacity, Reuse reuse = Reuse::soon) {
    return create(arena, Room{capacity, capacity}, reuse);
  }
  // The same for up to room.most objects. Freed slots are reused after room.first slots were used,
  // and then each time the number in use has doubled: so with Reuse::late, too, memory follows the
  // number in use. The arena must outlive this object.
  Result<void> create(Arena& arena, Room room, Reuse reuse = Reuse::soon);

  // Constructs a T, or returns null when full. Null also when the arena commits in steps and the
  // system has no memory left. O(1).
  template <class... Args>
  [[nodiscard]] T* alloc(Args&&... args);

  // Destroys the object; its handles are stale from now on. Asserts that it is live and of this
  // slab.
  void free(T* object);

  // The handle of a live object. O(1).
  Handle<T> handle(const T* object) const {
    const uint32_t index = index_of(object);
    UET_ASSERT((meta(index) & kLinkMask) == kLive);
    return {index, meta(index) >> kLinkBits};
  }

  // The object, or null when it is gone or the handle is not one of this slab. O(1).
  T* get(Handle<T> h) {
    const uint32_t index = h.index();
    if (index >= ready_ || meta(index) != ((h.generation() << kLinkBits) | kLive)) return nullptr;
    return &slots_[index].value;
  }
  const T* get(Handle<T> h) const { return const_cast<Slab*>(this)->get(h); }
  // The slot of that index, whatever its generation; one that was in use once. O(1).
  T& at(uint32_t index) {
    UET_DEBUG_ASSERT(index < used_);
    return slots_[index].value;
  }

  // Prefetches what get() reads, and the object.
  void prefetch(Handle<T> h) const {
    if (h.index() >= ready_) return;
    uet::prefetch(&meta(h.index()), sizeof(uint32_t));
    uet::prefetch(&slots_[h.index()], sizeof(T));
  }

  // Calls fn(T&) for every live object in index order. fn may free any object; objects it
  // allocates may or may not be visited.
  template <class Fn>
  void for_each(Fn&& fn);

  uint32_t size() const { return size_; }
  uint32_t capacity() const { return most_; }
  bool full() const { return size_ == most_; }

 private:
  union Slot {
    Slot() {}
    ~Slot() {}
    T value;
  };
  static constexpr unsigned kLinkBits = Handle<T>::kIndexBits;
  static constexpr uint32_t kLinkMask = Handle<T>::kIndexMask;
  static constexpr uint32_t kLive = kLinkMask;     // link of a slot in use
  static constexpr uint32_t kEnd = kLinkMask - 1;  // link of the last free slot
  static constexpr uint32_t kGenerationMax = (uint32_t{1} << (32 - kLinkBits)) - 1;
  static constexpr uint32_t kRest = 64;  // freed slots that wait, with Reuse::rested

  // generation << kLinkBits | link; 0: never used
  uint32_t& meta(uint32_t index) const {
    return reinterpret_cast<uint32_t*>(slots_)[-1 - ptrdiff_t{index}];
  }
  uint32_t index_of(const T* object) const;
  uint32_t take_freed();
  uint32_t take_fresh();
  uint32_t take();
  bool add_room();
  bool make_ready();

  Slot* slots_ = nullptr;
  size_t meta_bytes_ = 0;      // before the slots
  uint32_t free_head_ = kEnd;  // freed slots, linked through their meta words
  uint32_t free_tail_ = kEnd;
  uint32_t size_ = 0;
  uint32_t used_ = 0;   // slots ever used: those below
  uint32_t room_ = 0;   // slots that are used before freed ones with Reuse::late
  uint32_t most_ = 0;   // to which room_ grows
  uint32_t ready_ = 0;  // slots whose memory is usable; the others are addresses only
  Reuse reuse_ = Reuse::soon;
  Arena* arena_ = nullptr;  // counts used memory
};

}  // namespace uet

#include "base/slab_inl.h"
