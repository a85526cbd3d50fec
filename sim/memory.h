// Memory of an operation: zeros at first; a page takes memory when it is first written.
#pragma once

#include "base/assert.h"

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace uet::sim {

class Memory {
 public:
  Memory() = default;
  explicit Memory(size_t bytes)
      : octets_(bytes == 0 ? nullptr : static_cast<std::byte*>(std::calloc(bytes, 1))),
        bytes_(bytes) {
    UET_ASSERT(octets_ != nullptr || bytes == 0);
  }
  std::byte* data() { return octets_.get(); }
  const std::byte* data() const { return octets_.get(); }
  size_t size() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* octets) const { std::free(octets); }
  };
  std::unique_ptr<std::byte, Free> octets_;
  size_t bytes_ = 0;
};

}  // namespace uet::sim
