// Packets that travel as a separate IP protocol: the entropy header before each of them, and the
// CRC after it. Octets only, for the raw sockets and the packet sockets alike. [WIRE-008, WIRE-013,
// WIRE-089]
#pragma once

#include "io/frame/frame.h"

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
  // Each packet without a seal ends with a CRC. A packet with one of these DSCPs (bit i: DSCP i) is
  // taken without: a switch has cut it, CRC and all. [WIRE-022]
  bool crc = false;
  uint64_t cut_dscps = 0;
  FabricAddress local;

  bool is_used() const { return ip_protocol != 0; }
  // The check value of a seal takes the place of the CRC. [WIRE-089]
  bool has_crc(const TxPacket& packet) const { return crc && packet.sdi == 0; }
  // Octets between the IP header and this packet, and behind it.
  uint32_t around_bytes(const TxPacket& packet) const {
    return kEntropyHeader + (has_crc(packet) ? kCrcBytes : 0);
  }
};

// Octets around this packet, from the IP header on, when it travels from `local`.
inline uint32_t around_bytes(const NativeFormat& native, const FabricAddress& local,
                             const TxPacket& packet = {}) {
  return ip_header_bytes_of(local) + (native.is_used() ? native.around_bytes(packet) : kUdpHeader);
}

enum class NativeVerdict : uint8_t {
  good,
  stump,
  bad_crc
};

// Removes entropy header and CRC from the octets after the IP header. The pattern has the sender's
// address and the DSCP; EV and port are filled in. stump: there is no whole entropy header.
NativeVerdict take_native(const NativeFormat& format, RxDatagram& pattern,
                          std::span<std::byte>& octets);

// The longest IP packet.
inline constexpr uint32_t kNativeRoomBytes = 1 << 16;
using EntropyOctets = std::array<std::byte, kEntropyHeader>;

// Points vectors at header and payload of a packet, TxBatch::kSlices + 1 at most; returns how many.
uint32_t gather_packet(const TxPacket& packet, iovec* out);

// Copies header and payload; returns where they end.
std::byte* put_packet(std::byte* at, const TxPacket& packet);

// Copies a packet as it follows the IP header, with its CRC: the sum is that of the copy, because
// an application may write to the packet. Returns its end. [WIRE-013, WIRE-091, WIRE-092]
std::byte* put_native(std::byte* at, const TxPacket& packet, const NativeFormat& format);

// Points vectors at a packet as it stands behind the IP header: one more than gather_packet(). With
// a CRC it is put into `room` first, which has kNativeRoomBytes.
uint32_t gather_native(const TxPacket& packet, const NativeFormat& format, EntropyOctets& entropy,
                       std::byte* room, iovec* out);

}  // namespace uet::io
