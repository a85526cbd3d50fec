// The memory of a ring: a memfd without a name, sealed at its size, mapped as long as the object
// lives. The kernel frees it when the last process that maps it has ended, killed or not. [LF-142]
#pragma once

#include "io/socket.h"

#include <cstddef>
#include <utility>

namespace uet::io {

class ShmMemory {
 public:
  ShmMemory() = default;
  ShmMemory(ShmMemory&& o) noexcept : memory_(std::exchange(o.memory_, nullptr)) {}
  ShmMemory& operator=(ShmMemory&& o) noexcept {
    std::swap(memory_, o.memory_);
    return *this;
  }
  ~ShmMemory();

  // kShmRingBytes of zeros, and the descriptor to pass on. Check it: empty with errno.
  static ShmMemory make(Fd& descriptor);
  // Memory of another process. Empty if it is not as make() makes it: its size could change.
  static ShmMemory map(const Fd& descriptor);

  std::byte* get() const { return memory_; }
  explicit operator bool() const { return memory_ != nullptr; }

 private:
  std::byte* memory_ = nullptr;
};

}  // namespace uet::io
