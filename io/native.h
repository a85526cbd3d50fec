// Packets that travel as an IP protocol of their own: the entropy header before each of them, and
// the CRC behind it. Octets only, for the raw sockets and the packet sockets alike. [WIRE-008,
// WIRE-013, WIRE-089]
#pragma once

#include "io/frame.h"

#include "base/crc32c.h"
#include "base/packet.h"

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::io {

struct NativeFormat {
  uint8_t ip_protocol = 0;  // 0: packets travel over UDP
  // Each packet without a seal ends with a CRC; but nobody can tell of packets with these DSCPs
  // (bit i: DSCP i), because a switch has cut them, CRC and all. [WIRE-022]
  bool crc = false;
  uint64_t cut_dscps = 0;
  FabricAddress local;

  bool is_used() const { return ip_protocol != 0; }
  // Octets between the IP header and this packet, and behind it. The check value of a seal takes
  // the place of the CRC. [WIRE-089]
  uint32_t around_bytes(const TxPacket& packet) const {
    return kEntropyHeader + (crc && packet.sdi == 0 ? kCrcBytes : 0);
  }
};

enum class NativeVerdict : uint8_t {
  good,
  stump,
  bad_crc
};

// Takes entropy header and CRC off what stood behind the IP header. The pattern has the sender's
// address and the DSCP; EV and port are filled in. stump: there is no whole entropy header.
NativeVerdict take_native(const NativeFormat& format, RxDatagram& pattern,
                          std::span<std::byte>& octets);

// The longest IP packet.
inline constexpr uint32_t kNativeRoomBytes = 1 << 16;
using EntropyOctets = std::array<std::byte, kEntropyHeader>;

// Points vectors at header and payload of a packet, TxBatch::kSlices + 1 at most; returns how many.
uint32_t gather_packet(const TxPacket& packet, iovec* out);

// The same for a packet as it stands behind the IP header: one vector more. With a CRC all of it is
// copied to `room` first, which has kNativeRoomBytes: the sum must be that of the octets which
// leave, while an application may write to them. [WIRE-013, WIRE-091, WIRE-092]
uint32_t gather_native(const TxPacket& packet, const NativeFormat& format, EntropyOctets& entropy,
                       std::byte* room, iovec* out);

}  // namespace uet::io
