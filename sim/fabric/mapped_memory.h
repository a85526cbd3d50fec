// Memory of a run in one piece from the start: addresses are reserved, pages come on use, 2 MiB at
// once if the system supports it, because data spread over many pages is slow.
#pragma once

#include "sim/fabric/topology.h"

#include <sys/mman.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace uet::sim::fabric {

class MappedMemory {
 public:
  // Throws TopologyError when the system has no addresses for `bytes` octets.
  explicit MappedMemory(uint64_t bytes) : bytes_(bytes) {
    void* const got = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) throw TopologyError("the system has no memory for such a run");
    memory_ = static_cast<std::byte*>(got);
    // An error says that the kernel knows no huge pages.
    (void)::madvise(got, bytes_, MADV_HUGEPAGE);
  }
  ~MappedMemory() {
    if (memory_ != nullptr) ::munmap(memory_, bytes_);
  }
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  // Its octets are the caller's from now on.
  std::byte* release() { return std::exchange(memory_, nullptr); }
  std::byte* data() const { return memory_; }
  uint64_t size() const { return bytes_; }

 private:
  std::byte* memory_ = nullptr;
  uint64_t bytes_;
};

// For arrays of a run that are read all over: large ones likewise.
template <class T>
struct MappedAllocator {
  using value_type = T;

  MappedAllocator() = default;
  template <class U>
  explicit MappedAllocator(const MappedAllocator<U>&) {}

  T* allocate(size_t n) {
    if (n * sizeof(T) < kFrom) return std::allocator<T>().allocate(n);
    return reinterpret_cast<T*>(MappedMemory(n * sizeof(T)).release());
  }
  void deallocate(T* memory, size_t n) {
    if (n * sizeof(T) < kFrom) return std::allocator<T>().deallocate(memory, n);
    ::munmap(memory, n * sizeof(T));
  }
  bool operator==(const MappedAllocator&) const = default;

 private:
  static constexpr size_t kFrom = size_t{2} << 20;
};
template <class T>
using MappedVector = std::vector<T, MappedAllocator<T>>;

}  // namespace uet::sim::fabric
