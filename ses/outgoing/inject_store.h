// Room for payloads that are copied when they are posted, so that the caller has its memory back at
// once: short ones for every operation there can be, long ones for fewer.
#pragma once

#include "ses/types.h"

#include "base/slab.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace uet::ses {

class InjectStore {
 public:
  // Call it once, before anything else. Gives the numbers of short and long copies at once.
  Result<void> create(Arena& arena, Room short_copies, uint32_t long_copies) {
    UET_CHECK(short_.create(arena, short_copies));
    return long_.create(arena, long_copies);
  }

  // Room for `bytes`, at most kInjectBytes; null when none is free.
  std::byte* take(uint64_t bytes) {
    UET_ASSERT(bytes <= kInjectBytes);
    return bytes <= kShortBytes ? take_from(short_) : take_from(long_);
  }
  // Takes back what take() gave for as many bytes.
  void give_back(std::byte* copy, uint64_t bytes) {
    if (bytes <= kShortBytes) return short_.free(reinterpret_cast<Short*>(copy));
    long_.free(reinterpret_cast<Long*>(copy));
  }

  static constexpr uint32_t kShortBytes = kAtomicBytesMax;

 private:
  template <uint32_t kBytes>
  struct Buffer {
    Buffer() {}  // not initialised: every octet that is sent was copied into it
    std::array<std::byte, kBytes> bytes;
  };
  using Short = Buffer<kShortBytes>;
  using Long = Buffer<kInjectBytes>;

  template <class T>
  static std::byte* take_from(Slab<T>& slab) {
    T* const taken = slab.alloc();
    return taken != nullptr ? taken->bytes.data() : nullptr;
  }

  Slab<Short> short_;
  Slab<Long> long_;
};

}  // namespace uet::ses
