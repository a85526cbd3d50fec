// Memory that lives as long as its owner: a bump allocator that reserves blocks at set-up acts and
// on first use, and gives everything back at once when it is destroyed. Nothing is freed one by
// one; pools that recycle objects are built on top of it (base/slab.h). Memory comes zeroed and is
// not touched: what is only reserved costs no page (base/zero_pages.h). Objects, small arrays and
// large arrays come from different blocks, so that what is used shares pages.
#pragma once

#include "base/assert.h"
#include "base/zero_pages.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace uet {

// When reserved addresses become memory that a system without overcommit counts.
enum class Commit : uint8_t {
  at_once,   // all of them
  in_steps,  // memory of large pools as it is used; costs mappings, of which a process has 65,530
};

class Arena {
 public:
  static constexpr size_t kDefaultBlockBytes = 64 * 1024;
  static constexpr size_t kStepsFrom = size_t{32} << 20;  // pools from here on commit in steps

  static constexpr size_t kLargeBytes = kPageBytes;  // arrays from here on are large

  // Blocks of at least block_bytes are reserved when needed, none before; those of large arrays
  // have at least 16 times as much, and half of what is reserved, up to 32 MiB.
  explicit Arena(size_t block_bytes = kDefaultBlockBytes, Commit commit = Commit::at_once)
      : block_bytes_(block_bytes), commit_(commit) {}

  // Destroys what make() made, latest first, and frees all memory.
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Zeroed memory that lives as long as the arena. `align` is a power of two, at most 4096. Null
  // when the system has no more; nothing was changed then. Asserts that the arena is not sealed.
  [[nodiscard]] void* allocate(size_t bytes, size_t align = alignof(std::max_align_t));

  // The same for callers that use it in parts and report the used part by note_use().
  [[nodiscard]] void* reserve(size_t bytes, size_t align);
  void note_use(size_t bytes) { used_bytes_ += bytes; }

  // Whether a pool of `bytes` octets takes reserve_apart() and commit() instead.
  bool commits_in_steps(size_t bytes) const {
    return commit_ == Commit::in_steps && bytes >= kStepsFrom;
  }
  // Addresses from the start of a page on, which must not be used before commit(). Null when the
  // system has no more.
  [[nodiscard]] void* reserve_apart(size_t bytes);
  // Makes the range between two distances from `first` usable, a result of reserve_apart(); part of
  // it may be usable already. False: the system has no memory left; nothing was changed.
  [[nodiscard]] static bool commit(void* first, size_t from, size_t until);

  // A T that the arena destroys. Null when the system has no more.
  template <class T, class... Args>
  [[nodiscard]] T* make(Args&&... args);

  // n value-initialised Ts. An empty span without data when the system has no more or n * sizeof(T)
  // overflows; n == 0 gives an empty span as well.
  template <class T>
  [[nodiscard]] std::span<T> make_span(size_t n);
  // The same without a constructor: all octets are 0 and no page is touched. For types for which
  // all zero is a valid value, or that are written before they are read.
  template <class T>
  [[nodiscard]] std::span<T> make_zero_span(size_t n);

  // From here on allocate() asserts. Optional: for owners that must not grow after set-up, and for
  // tests that prove they do not.
  void seal() { is_sealed_ = true; }
  bool is_sealed() const { return is_sealed_; }

  // Bytes handed out, those of reserve() as they are used, and bytes of address space.
  size_t used_bytes() const { return used_bytes_; }
  size_t reserved_bytes() const { return reserved_bytes_; }

 private:
  struct Block {
    Block* next;
    void* memory;
    size_t bytes;
  };
  struct Cleanup {
    Cleanup* next;
    void (*destroy)(void*);
    void* object;
  };
  // Gap before each allocation in builds that detect reads of unallocated memory.
  struct Guard {
    Guard* next;
  };
  // The newest block of one kind.
  struct Area {
    uintptr_t cursor = 0;  // next free byte
    uintptr_t limit = 0;   // one past the last byte
  };

  [[nodiscard]] void* take(Area& area, size_t bytes, size_t align);
  [[nodiscard]] void* take_object(size_t bytes, size_t align) {
    note_use(bytes);
    return take(objects_, bytes, align);
  }
  [[nodiscard]] void* take_from_new_block(Area& area, size_t bytes, size_t align);
  [[nodiscard]] void* guarded(uintptr_t at);
  [[nodiscard]] Area add_block(const Area& area, size_t bytes, size_t align);

  Area objects_;  // and the records of blocks
  Area small_;
  Area large_;
  Block* blocks_ = nullptr;
  Cleanup* cleanups_ = nullptr;
  Guard* guards_ = nullptr;
  size_t block_bytes_;
  size_t used_bytes_ = 0;
  size_t reserved_bytes_ = 0;
  Commit commit_;
  bool is_sealed_ = false;
};

template <class T, class... Args>
T* Arena::make(Args&&... args) {
  Cleanup* cleanup = nullptr;
  if constexpr (!std::is_trivially_destructible_v<T>) {
    cleanup = static_cast<Cleanup*>(take_object(sizeof(Cleanup), alignof(Cleanup)));
    if (cleanup == nullptr) return nullptr;
  }
  void* const memory = take_object(sizeof(T), alignof(T));
  if (memory == nullptr) return nullptr;
  T* object = nullptr;
  if constexpr (std::is_constructible_v<T, Args...>) {
    object = new (memory) T(std::forward<Args>(args)...);
  } else {
    object = new (memory) T{std::forward<Args>(args)...};  // aggregates; clang 14 needs the braces
  }
  if constexpr (!std::is_trivially_destructible_v<T>) {
    cleanups_ = new (cleanup)
        Cleanup{cleanups_, [](void* p) { static_cast<T*>(p)->~T(); }, static_cast<void*>(object)};
  }
  return object;
}

template <class T>
std::span<T> Arena::make_zero_span(size_t n) {
  static_assert(std::is_trivially_destructible_v<T>, "the arena does not destroy spans");
  if (n == 0 || n > SIZE_MAX / sizeof(T)) return {};
  auto* const first = static_cast<T*>(allocate(n * sizeof(T), alignof(T)));
  if (first == nullptr) return {};
  return {first, n};
}

template <class T>
std::span<T> Arena::make_span(size_t n) {
  const std::span<T> span = make_zero_span<T>(n);
  if constexpr (!std::is_trivially_default_constructible_v<T>) {  // others are already zero
    std::uninitialized_value_construct(span.begin(), span.end());
  }
  return span;
}

}  // namespace uet
