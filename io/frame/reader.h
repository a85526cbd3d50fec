// Converts a frame that the kernel handed over before its IP stack to a datagram, with the checks
// of the stack. Octets only, for packet sockets and AF_XDP alike.
#pragma once

#include "io/frame/frame.h"
#include "io/frame/native.h"

#include "base/packet.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::io {

// Frames that were dropped, by reason.
struct FrameDrops {
  uint64_t malformed = 0;  // wrong headers or a wrong checksum
  uint64_t martian = 0;    // from an address that no other host can have
  uint64_t bad_crc = 0;
};

class FrameReader {
 public:
  // How far the UDP checksum of a frame is to be believed.
  enum class Checksum : uint8_t {
    unknown,
    maybe_begun,  // a sender on this host may have left it to a device, and the frame met none
    right,        // the checksum was verified, or the frame never left this host
  };

  // Frames to the address and port of `local`, or, if `native` is used, of its protocol. Counts in
  // `drops`, which lives longer.
  void start(const FabricAddress& local, const NativeFormat& native, FrameDrops& drops) {
    local_ = local;
    native_ = native;
    drops_ = &drops;
  }
  // Fills in a datagram except for its time of arrival. from_this_host: any sender is accepted.
  // False: counted and dropped.
  bool read(std::span<std::byte> frame, Checksum checksum, bool from_this_host,
            RxDatagram& datagram) const;

 private:
  bool read_udp(std::span<std::byte> ip, Checksum checksum, bool from_this_host,
                RxDatagram& datagram) const;
  bool read_native(std::span<std::byte> ip, bool from_this_host, RxDatagram& datagram) const;
  bool take_ip_header(const IpPacket& packet, bool from_this_host, RxDatagram& datagram) const;

  FabricAddress local_;
  NativeFormat native_;
  FrameDrops* drops_ = nullptr;
};

}  // namespace uet::io
