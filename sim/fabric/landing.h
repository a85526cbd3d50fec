// Memory without content: where every payload of a run comes from and goes to.
#pragma once

#include "sim/fabric/topology.h"

#include "base/packet.h"

#include <sys/mman.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace uet::sim::fabric {

class Landing {
 public:
  // Throws TopologyError when the system has no addresses for so many octets.
  explicit Landing(uint64_t bytes) : bytes_(std::max<uint64_t>(bytes, 4096)) {
    void* const got = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) throw TopologyError("no memory for messages of such lengths");
    memory_ = static_cast<std::byte*>(got);
  }
  ~Landing() { ::munmap(memory_, bytes_); }
  Landing(const Landing&) = delete;
  Landing& operator=(const Landing&) = delete;

  // Its first octets.
  IoSlice slice(uint64_t bytes) const { return {memory_, bytes}; }
  IoSlice all() const { return {memory_, bytes_}; }

 private:
  std::byte* memory_ = nullptr;
  uint64_t bytes_;
};

}  // namespace uet::sim::fabric
