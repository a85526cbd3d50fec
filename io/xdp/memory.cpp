// Mapping and registration of the frames.
#include "io/xdp/memory.h"

#include <linux/if_xdp.h>
#include <sys/mman.h>

namespace uet::io {

XdpMemory::~XdpMemory() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

bool XdpMemory::map(uint32_t frames) {
  bytes_ = size_t{frames} * kFrameBytes;
  // Shared, so that after a fork the pages known to the kernel are still those of this process.
  void* const memory =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<std::byte*>(memory);
  return true;
}

bool XdpMemory::register_with(const Fd& socket) const {
  xdp_umem_reg request{};
  request.addr = reinterpret_cast<uint64_t>(memory_);
  request.len = bytes_;
  request.chunk_size = kFrameBytes;
  return ::setsockopt(socket.get(), SOL_XDP, XDP_UMEM_REG, &request, sizeof request) == 0;
}

std::span<std::byte> XdpMemory::octets(uint64_t address, uint32_t length) const {
  const uint64_t inside = address % kFrameBytes;
  if (address >= bytes_ || length > kFrameBytes - inside) return {};
  return {memory_ + address, length};
}

}  // namespace uet::io
