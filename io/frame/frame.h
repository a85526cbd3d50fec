// IP and UDP headers in octets, for code that sees packets below the UDP socket: the packet-socket
// backend and the capture tap. Builds and parses headers; sends nothing.
#pragma once

#include "base/packet.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::io {

inline constexpr uint32_t kEthernetHeader = 14;
inline constexpr uint32_t kIpv4Header = 20;
inline constexpr uint32_t kIpv6Header = 40;
inline constexpr uint32_t kUdpHeader = 8;
inline constexpr uint32_t kEntropyHeader = 4;  // in place of UDP's [WIRE-009, WIRE-013]
inline constexpr uint32_t kUdpPacketHeaderMax = kIpv6Header + kUdpHeader;

// Octets of the IP header, and of that and the UDP header, before a datagram of this family.
inline uint32_t ip_header_bytes_of(const FabricAddress& a) {
  return a.family == FabricAddress::Family::ipv6 ? kIpv6Header : kIpv4Header;
}
inline uint32_t header_bytes_of(const FabricAddress& a) {
  return ip_header_bytes_of(a) + kUdpHeader;
}

// Writes IP and UDP headers for a datagram of `bytes` octets and returns their length. IPv4 without
// options, never to be fragmented [WIRE-010, WIRE-012]; the UDP checksum is 0 [WIRE-024].
uint32_t put_udp_headers(std::byte* at, const FabricAddress& from, const FabricAddress& to,
                         uint8_t tos, uint32_t datagram_bytes);

// Writes IP and entropy headers for a packet that travels as a separate IP protocol, and returns
// their length. [WIRE-008, WIRE-013]
uint32_t put_native_headers(std::byte* at, const FabricAddress& from, const FabricAddress& to,
                            uint8_t tos, uint8_t ip_protocol, Entropy ev, uint32_t packet_bytes);

// Writes the IP header alone, for `bytes` octets of this protocol, and returns its length.
uint32_t put_ip_header(std::byte* at, const FabricAddress& from, const FabricAddress& to,
                       uint8_t tos, uint8_t ip_protocol, uint32_t bytes);

// The CRC of the addresses, which comes before that of the octets after the IP header. [WIRE-091]
uint32_t crc_of_addresses(const FabricAddress& from, const FabricAddress& to);

// The entropy header alone.
inline void put_entropy_header(std::byte* at, Entropy ev) {
  at[0] = static_cast<std::byte>(ev.value() >> 8);
  at[1] = static_cast<std::byte>(ev.value());
  at[2] = at[3] = std::byte{0};
}

// Fills in the UDP checksum of a packet that put_udp_headers() began, contiguous up to its end.
void put_udp_checksum(std::span<std::byte> packet);

// Writes the part of the UDP checksum that needs no payload, into headers that put_udp_headers()
// wrote. The kernel or the network device adds the payload. See FrameOffload::kNeedsChecksum.
void put_udp_checksum_begun(std::byte* headers);

// A packet socket's description of a frame's offloads, before the frame: struct virtio_net_hdr,
// whose header file does not compile as C++. The octet order of this machine.
struct FrameOffload {
  static constexpr uint8_t kNeedsChecksum = 1;  // flags: begun; on receive: never left this host
  static constexpr uint8_t kChecksumValid = 2;  // flags: the checksum was verified
  static constexpr uint8_t kUdpSegments = 5;    // gso_type

  uint8_t flags = 0;
  uint8_t gso_type = 0;
  uint16_t header_bytes = 0;
  uint16_t segment_bytes = 0;
  uint16_t checksum_start = 0;   // from the start of the frame
  uint16_t checksum_offset = 0;  // from there
};
static_assert(sizeof(FrameOffload) == 10);

// An IP packet with what its header says.
struct IpPacket {
  FabricAddress from;  // without ports, unless it is a UdpPacket
  FabricAddress to;
  uint8_t tos = 0;
  std::span<std::byte> whole;    // from the IP header on, without padding
  std::span<std::byte> payload;  // behind the IP header
};

// A UDP datagram with the fields of its lower headers.
struct UdpPacket : IpPacket {
  std::span<std::byte> datagram;  // behind both headers
  bool trimmed = false;           // the UDP header speaks of more than came [WIRE-021]
  bool has_checksum = false;      // not 0 [WIRE-024]
};

// Takes an IP packet apart; octets after its end, such as Ethernet padding, are left out. False for
// another protocol than this one, for IPv4 options, IPv6 extension headers and fragments.
bool parse_ip_packet(std::span<std::byte> packet, uint8_t ip_protocol, IpPacket& out);

// The same for a whole UDP packet.
bool parse_udp_packet(std::span<std::byte> packet, UdpPacket& out);

// Whether the checksum of the IPv4 header is right; true of IPv6, whose header has none. Packet
// sockets get frames before the kernel has checked it. [WIRE-010]
bool is_ip_checksum_right(const IpPacket& packet);

// Whether the UDP checksum is right, of a packet that has one and is not trimmed. Reads every
// octet.
bool is_udp_checksum_right(const UdpPacket& packet);

// Whether the UDP checksum is as put_udp_checksum_begun() leaves it: a sender on this host expected
// a device to add the payload, and the packet met none.
bool is_udp_checksum_begun(const UdpPacket& packet);

// Whether the IP stack of `local` would refuse a packet from this address: its own, and addresses
// that are not of a host.
bool is_martian(const FabricAddress& from, const FabricAddress& local);

// fe80::/10: means a host only together with an interface.
bool is_link_local(const FabricAddress& address);

}  // namespace uet::io
