// The memory that AF_XDP sockets share with the kernel: frames of equal length, registered once.
// Its users track the owner of each frame. [decision 26]
#pragma once

#include "io/socket.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::io {

class XdpMemory {
 public:
  static constexpr uint32_t kFrameBytes = 4096;  // maximum: a page
  // The kernel keeps this much of a frame that it fills for itself, XDP_PACKET_HEADROOM...
  static constexpr uint32_t kKernelBytes = 256;
  // ...and fills the rest.
  static constexpr uint32_t kFilledBytes = kFrameBytes - kKernelBytes;

  XdpMemory() = default;
  ~XdpMemory();
  XdpMemory(const XdpMemory&) = delete;
  XdpMemory& operator=(const XdpMemory&) = delete;

  // False with errno.
  bool map(uint32_t frames);
  // Registers it with a new AF_XDP socket. False with errno: ENOBUFS when the process may not lock
  // that much memory.
  bool register_with(const Fd& socket) const;

  // Where a frame begins. `address` is an offset, as in descriptors.
  static uint64_t address_of(uint32_t frame) { return uint64_t{frame} * kFrameBytes; }
  static uint32_t frame_of(uint64_t address) {
    return static_cast<uint32_t>(address / kFrameBytes);
  }
  std::byte* at(uint64_t address) const { return memory_ + address; }
  // All octets that a descriptor names; none when they do not lie in one frame.
  std::span<std::byte> octets(uint64_t address, uint32_t length) const;

 private:
  std::byte* memory_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace uet::io
