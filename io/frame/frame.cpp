// Header layouts of IPv4, IPv6 and UDP, and the Internet checksum.
#include "io/frame/frame.h"

#include "base/crc32c.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace uet::io {
namespace {

constexpr uint8_t kProtocolUdp = 17;
constexpr uint8_t kHops = 64;

uint32_t load16(const std::byte* at) {
  return std::to_integer<uint32_t>(at[0]) << 8 | std::to_integer<uint32_t>(at[1]);
}

void store16(std::byte* at, uint32_t value) {
  at[0] = static_cast<std::byte>(value >> 8);
  at[1] = static_cast<std::byte>(value);
}

bool is_ipv4(const std::byte* packet) { return std::to_integer<uint32_t>(*packet) >> 4 == 4; }

// The ones' complement sum of the Internet checksum, over octets in network order. Eight octets at
// a time in memory order: the sum of sixteen-bit words does not depend on it, except for a swap at
// the end.
uint32_t sum16(std::span<const std::byte> octets, uint32_t sum) {
  uint64_t total = 0;
  const std::byte* at = octets.data();
  size_t left = octets.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint32_t words[2];
    std::memcpy(words, at, sizeof words);
    total += uint64_t{words[0]} + words[1];
  }
  while (total >> 16 != 0) total = (total & 0xffff) + (total >> 16);
  if constexpr (std::endian::native == std::endian::little) {
    total = (total & 0xff) << 8 | total >> 8;
  }
  total += sum;
  for (; left >= 2; at += 2, left -= 2) total += load16(at);
  if (left != 0) total += std::to_integer<uint32_t>(*at) << 8;
  while (total >> 16 != 0) total = (total & 0xffff) + (total >> 16);
  return static_cast<uint32_t>(total);
}

uint32_t ip_header_of(const std::byte* packet) {
  return is_ipv4(packet) ? kIpv4Header : kIpv6Header;
}

// Both addresses stand at the end of the IP header.
uint32_t pseudo_header_sum(const std::byte* packet, size_t udp_bytes) {
  const uint32_t addresses = is_ipv4(packet) ? 8 : 32;
  const std::byte* const at = packet + ip_header_of(packet) - addresses;
  return sum16({at, addresses}, static_cast<uint32_t>(kProtocolUdp + udp_bytes));
}

// Over the pseudo header and everything from the UDP header on.
uint32_t udp_sum(std::span<const std::byte> packet) {
  const std::span<const std::byte> udp = packet.subspan(ip_header_of(packet.data()));
  return sum16(udp, pseudo_header_sum(packet.data(), udp.size()));
}

}  // namespace

uint32_t put_ip_header(std::byte* at, const FabricAddress& from, const FabricAddress& to,
                       uint8_t tos, uint8_t ip_protocol, uint32_t bytes) {
  const bool ipv6 = from.family == FabricAddress::Family::ipv6;
  const uint32_t ip_header = ipv6 ? kIpv6Header : kIpv4Header;
  std::memset(at, 0, ip_header);
  if (ipv6) {
    at[0] = static_cast<std::byte>(0x60 | tos >> 4);
    at[1] = static_cast<std::byte>(tos << 4);
    store16(at + 4, bytes);
    at[6] = std::byte{ip_protocol};
    at[7] = std::byte{kHops};
    std::memcpy(at + 8, from.ip.data(), 16);
    std::memcpy(at + 24, to.ip.data(), 16);
    return ip_header;
  }
  at[0] = std::byte{0x45};
  at[1] = static_cast<std::byte>(tos);
  store16(at + 2, kIpv4Header + bytes);
  at[6] = std::byte{0x40};  // do not fragment
  at[8] = std::byte{kHops};
  at[9] = std::byte{ip_protocol};
  std::memcpy(at + 12, from.ip.data(), 4);
  std::memcpy(at + 16, to.ip.data(), 4);
  store16(at + 10, ~sum16({at, kIpv4Header}, 0) & 0xffff);
  return ip_header;
}

uint32_t put_udp_headers(std::byte* at, const FabricAddress& from, const FabricAddress& to,
                         uint8_t tos, uint32_t datagram_bytes) {
  const uint32_t udp_bytes = datagram_bytes + kUdpHeader;
  const uint32_t ip_header = put_ip_header(at, from, to, tos, kProtocolUdp, udp_bytes);
  std::byte* const udp = at + ip_header;
  store16(udp, from.port);
  store16(udp + 2, to.port);
  store16(udp + 4, udp_bytes);
  store16(udp + 6, 0);
  return ip_header + kUdpHeader;
}

uint32_t put_native_headers(std::byte* at, const FabricAddress& from, const FabricAddress& to,
                            uint8_t tos, uint8_t ip_protocol, Entropy ev, uint32_t packet_bytes) {
  const uint32_t ip_header =
      put_ip_header(at, from, to, tos, ip_protocol, packet_bytes + kEntropyHeader);
  put_entropy_header(at + ip_header, ev);
  return ip_header + kEntropyHeader;
}

uint32_t crc_of_addresses(const FabricAddress& from, const FabricAddress& to) {
  const auto octets = [](const FabricAddress& a) {
    return std::as_bytes(std::span(a.ip)).first(a.ip_length());
  };
  return crc32c(octets(to), crc32c(octets(from)));
}

void put_udp_checksum(std::span<std::byte> packet) {
  const uint32_t check = ~udp_sum(packet) & 0xffff;
  store16(packet.data() + ip_header_of(packet.data()) + 6, check == 0 ? 0xffff : check);
}

void put_udp_checksum_begun(std::byte* headers) {
  std::byte* const udp = headers + ip_header_of(headers);
  store16(udp + 6, pseudo_header_sum(headers, load16(udp + 4)));
}

bool parse_ip_packet(std::span<std::byte> packet, uint8_t ip_protocol, IpPacket& out) {
  if (packet.size() < kIpv4Header) return false;
  const std::byte* const ip = packet.data();
  const uint32_t version = std::to_integer<uint32_t>(ip[0]) >> 4;
  out.from = out.to = {};
  uint32_t ip_header = kIpv4Header;
  uint32_t ip_bytes = 0;  // from here to the end of the IP packet
  if (version == 4) {
    constexpr uint32_t kFragment = 0x3fff;  // more to come, or an offset
    if (ip[0] != std::byte{0x45} || (load16(ip + 6) & kFragment) != 0) return false;
    if (ip[9] != std::byte{ip_protocol}) return false;
    ip_bytes = load16(ip + 2);
    out.tos = std::to_integer<uint8_t>(ip[1]);
    out.from.family = out.to.family = FabricAddress::Family::ipv4;
    std::memcpy(out.from.ip.data(), ip + 12, 4);
    std::memcpy(out.to.ip.data(), ip + 16, 4);
  } else {
    if (version != 6 || packet.size() < kIpv6Header) return false;
    if (ip[6] != std::byte{ip_protocol}) return false;
    ip_header = kIpv6Header;
    ip_bytes = kIpv6Header + load16(ip + 4);
    out.tos = static_cast<uint8_t>(load16(ip) >> 4);
    out.from.family = out.to.family = FabricAddress::Family::ipv6;
    std::memcpy(out.from.ip.data(), ip + 8, 16);
    std::memcpy(out.to.ip.data(), ip + 24, 16);
  }
  // A switch that trims may not have adapted the IP length. [WIRE-021]
  if (ip_bytes > packet.size()) ip_bytes = static_cast<uint32_t>(packet.size());
  if (ip_bytes < ip_header) return false;
  out.whole = packet.first(ip_bytes);
  out.payload = out.whole.subspan(ip_header);
  return true;
}

bool parse_udp_packet(std::span<std::byte> packet, UdpPacket& out) {
  if (!parse_ip_packet(packet, kProtocolUdp, out) || out.payload.size() < kUdpHeader) return false;
  const std::byte* const udp = out.payload.data();
  const uint32_t udp_bytes = load16(udp + 4);
  if (udp_bytes < kUdpHeader) return false;
  out.trimmed = udp_bytes > out.payload.size();
  if (!out.trimmed) {
    out.whole = out.whole.first(out.whole.size() - out.payload.size() + udp_bytes);
    out.payload = out.payload.first(udp_bytes);
  }
  out.datagram = out.payload.subspan(kUdpHeader);
  out.has_checksum = load16(udp + 6) != 0;
  out.from.port = static_cast<uint16_t>(load16(udp));
  out.to.port = static_cast<uint16_t>(load16(udp + 2));
  return true;
}

bool is_ip_checksum_right(const IpPacket& packet) {
  const std::byte* const ip = packet.whole.data();
  return !is_ipv4(ip) || sum16({ip, kIpv4Header}, 0) == 0xffff;
}

bool is_udp_checksum_right(const UdpPacket& packet) { return udp_sum(packet.whole) == 0xffff; }

bool is_udp_checksum_begun(const UdpPacket& packet) {
  const std::byte* const ip = packet.whole.data();
  const std::byte* const udp = ip + ip_header_of(ip);
  return load16(udp + 6) == pseudo_header_sum(ip, load16(udp + 4));
}

bool is_martian(const FabricAddress& from, const FabricAddress& local) {
  if (from.ip == local.ip) return true;
  if (from.family != FabricAddress::Family::ipv6) {
    return from.ip[0] == 0 || from.ip[0] == 127 || from.ip[0] >= 224;
  }
  // ::, ::1 and the rest of ::/96; ff00::/8.
  const bool is_zero =
      std::all_of(from.ip.begin(), from.ip.begin() + 12, [](uint8_t octet) { return octet == 0; });
  return is_zero || from.ip[0] == 0xff;
}

bool is_link_local(const FabricAddress& a) {
  return a.family == FabricAddress::Family::ipv6 && a.ip[0] == 0xfe && (a.ip[1] & 0xc0) == 0x80;
}

}  // namespace uet::io
