// Memory that lives as long as its owner: a bump allocator that takes blocks from the heap at
// set-up acts and on first use, and gives everything back at once when it is destroyed. Nothing is
// freed one by one; pools that recycle objects are built on top of it (base/slab.h). Memory comes
// zeroed, and large blocks are not touched before they are used: what is only reserved costs no
// page.
#pragma once

#include "base/assert.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace uet {

class Arena {
 public:
  static constexpr size_t kDefaultBlockBytes = 64 * 1024;

  // Blocks of at least block_bytes are taken from the heap when needed, none before.
  explicit Arena(size_t block_bytes = kDefaultBlockBytes) : block_bytes_(block_bytes) {}

  // Destroys what make() made, latest first, and frees all memory.
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Zeroed memory that lives as long as the arena. `align` is a power of two, at most 4096.
  // Null when the heap has no more; nothing was changed then. Asserts that the arena is not sealed.
  [[nodiscard]] void* allocate(size_t bytes, size_t align = alignof(std::max_align_t));

  // A T that the arena destroys. Null when the heap has no more.
  template <class T, class... Args>
  [[nodiscard]] T* make(Args&&... args);

  // n value-initialised Ts. An empty span without data when the heap has no more or n * sizeof(T)
  // overflows; n == 0 gives an empty span as well.
  template <class T>
  [[nodiscard]] std::span<T> make_span(size_t n);

  // From here on allocate() asserts. Optional: for owners that must not grow after set-up, and for
  // tests that prove they do not.
  void seal() { is_sealed_ = true; }
  bool is_sealed() const { return is_sealed_; }

  // Bytes handed out, padding included, and bytes taken from the heap.
  size_t used_bytes() const { return used_bytes_; }
  size_t reserved_bytes() const { return reserved_bytes_; }

 private:
  struct Block {
    Block* next;
    void* memory;  // as the heap gave it
  };
  struct Cleanup {
    Cleanup* next;
    void (*destroy)(void*);
    void* object;
  };

  [[nodiscard]] bool add_block(size_t bytes, size_t align);

  uintptr_t cursor_ = 0;  // next free byte of the newest block
  uintptr_t limit_ = 0;   // one past its last byte
  Block* blocks_ = nullptr;
  Cleanup* cleanups_ = nullptr;
  size_t block_bytes_;
  size_t used_bytes_ = 0;
  size_t reserved_bytes_ = 0;
  bool is_sealed_ = false;
};

template <class T, class... Args>
T* Arena::make(Args&&... args) {
  Cleanup* cleanup = nullptr;
  if constexpr (!std::is_trivially_destructible_v<T>) {
    cleanup = static_cast<Cleanup*>(allocate(sizeof(Cleanup), alignof(Cleanup)));
    if (cleanup == nullptr) return nullptr;
  }
  void* const memory = allocate(sizeof(T), alignof(T));
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
std::span<T> Arena::make_span(size_t n) {
  static_assert(std::is_trivially_destructible_v<T>, "the arena does not destroy spans");
  if (n == 0 || n > SIZE_MAX / sizeof(T)) return {};
  auto* const first = static_cast<T*>(allocate(n * sizeof(T), alignof(T)));
  if (first == nullptr) return {};
  if constexpr (!std::is_trivially_default_constructible_v<T>) {  // others are zero already
    std::uninitialized_value_construct_n(first, n);
  }
  return {first, n};
}

}  // namespace uet
