// Headers below UDP, against packets summed by hand, and everything that must be refused.
#include "io/frame/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace uet::io {
namespace {

using Octets = std::vector<std::byte>;

Octets octets(const std::string& hex) {
  Octets out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return out;
}

FabricAddress ipv4(uint8_t host, uint16_t port) {
  return FabricAddress::v4(0x0A000000U | host, port);
}

FabricAddress ipv6(uint8_t host, uint16_t port) {
  FabricAddress a;
  a.family = FabricAddress::Family::ipv6;
  a.ip[0] = 0xfd;
  a.ip[15] = host;
  a.port = port;
  return a;
}

// 10.0.0.1:49152 to 10.0.0.2:4793, DSCP 8, ECT(0), "abc".
const char* const kIpv4 =
    "4522001f00004000401126aa0a0000010a000002"
    "c00012b9000b0000"
    "616263";
constexpr uint32_t kIpv4Sum = 0x54b9;  // that the UDP checksum would be
// fd00::aa:16384 to fd00::bb:4793, DSCP 34, not ECT, "wxyz".
const char* const kIpv6 =
    "68800000000c1140"
    "fd0000000000000000000000000000aa"
    "fd0000000000000000000000000000bb"
    "400012b9000cc0c3"
    "7778797a";

TEST(FrameTest, Ipv4HeadersHaveEveryOctet) {  // [WIRE-010, WIRE-024]
  const Octets want = octets(kIpv4);
  Octets packet(want.size());
  const uint32_t headers = put_udp_headers(packet.data(), ipv4(1, 49152), ipv4(2, 4793), 0x22, 3);
  ASSERT_EQ(headers, 28u);
  ASSERT_EQ(headers, header_bytes_of(ipv4(1, 1)));
  std::copy_n(want.begin() + headers, 3, packet.begin() + headers);
  EXPECT_EQ(packet, want);
  put_udp_checksum(packet);
  EXPECT_EQ(packet[26], std::byte{kIpv4Sum >> 8});
  EXPECT_EQ(packet[27], std::byte{kIpv4Sum & 0xff});
}

// [WIRE-024] 0 means no checksum, so a sum of 0 is sent in its other form. The first two octets of
// the payload, 6162, become 6162 + 54b9 = b61b: then all adds up to ffff.
TEST(FrameTest, AComputedChecksumIsNeverZero) {
  Octets packet = octets(kIpv4);
  packet[28] = std::byte{0xb6};
  packet[29] = std::byte{0x1b};
  put_udp_checksum(packet);
  EXPECT_EQ(packet[26], std::byte{0xff});
  EXPECT_EQ(packet[27], std::byte{0xff});
}

TEST(FrameTest, Ipv6HeadersAndChecksumHaveEveryOctet) {  // [WIRE-024]
  const Octets want = octets(kIpv6);
  Octets packet(want.size());
  const uint32_t headers =
      put_udp_headers(packet.data(), ipv6(0xaa, 0x4000), ipv6(0xbb, 4793), 0x88, 4);
  ASSERT_EQ(headers, 48u);
  std::copy_n(want.begin() + headers, 4, packet.begin() + headers);
  put_udp_checksum(packet);
  EXPECT_EQ(packet, want);
  // fd00::aa + fd00::bb + UDP + 12 octets: fd00 + aa + fd00 + bb + 11 + c = 1fb82, folded fb83
  put_udp_checksum_begun(packet.data());
  EXPECT_EQ(packet[46], std::byte{0xfb});
  EXPECT_EQ(packet[47], std::byte{0x83});
}

TEST(FrameTest, PacketsAreTakenApart) {
  Octets v4 = octets(kIpv4);
  UdpPacket p;
  ASSERT_TRUE(parse_udp_packet(v4, p));
  EXPECT_EQ(p.from, ipv4(1, 49152));
  EXPECT_EQ(p.to, ipv4(2, 4793));
  EXPECT_EQ(p.tos, 0x22);
  EXPECT_EQ(p.datagram.data(), v4.data() + 28);
  EXPECT_EQ(p.datagram.size(), 3u);
  EXPECT_FALSE(p.has_checksum);
  EXPECT_FALSE(p.trimmed);

  Octets v6 = octets(kIpv6);
  ASSERT_TRUE(parse_udp_packet(v6, p));
  EXPECT_EQ(p.from, ipv6(0xaa, 0x4000));
  EXPECT_EQ(p.to, ipv6(0xbb, 4793));
  EXPECT_EQ(p.tos, 0x88);
  EXPECT_EQ(p.datagram.size(), 4u);
  EXPECT_TRUE(p.has_checksum);
  EXPECT_TRUE(is_udp_checksum_right(p));
  for (size_t at = 8; at < v6.size(); ++at) {  // the addresses and all of UDP are covered
    if (at == 44 || at == 45) continue;        // a length of its own: no such packet
    v6[at] ^= std::byte{0x10};
    if (parse_udp_packet(v6, p)) {
      EXPECT_FALSE(is_udp_checksum_right(p)) << at;
    }
    v6[at] ^= std::byte{0x10};
  }
}

// [WIRE-010] Any change of an IPv4 header that leaves a packet shows in its checksum. IPv6: none.
TEST(FrameTest, TheIpv4HeaderChecksumCoversEachOctet) {
  Octets v4 = octets(kIpv4);
  UdpPacket p;
  ASSERT_TRUE(parse_udp_packet(v4, p));
  EXPECT_TRUE(is_ip_checksum_right(p));
  int parsed = 0;
  for (size_t at = 0; at < 20; ++at) {
    v4[at] ^= std::byte{0x04};
    if (parse_udp_packet(v4, p)) {
      ++parsed;
      EXPECT_FALSE(is_ip_checksum_right(p)) << at;
    }
    v4[at] ^= std::byte{0x04};
  }
  EXPECT_EQ(parsed, 15);  // not: version and length, two of the length, fragment offset, protocol
  Octets v6 = octets(kIpv6);
  ASSERT_TRUE(parse_udp_packet(v6, p));
  EXPECT_TRUE(is_ip_checksum_right(p));
}

// Ethernet pads short frames; the padding does not belong to the packet or its checksum.
TEST(FrameTest, PaddingIsLeftOut) {
  Octets v6 = octets(kIpv6);
  v6.resize(v6.size() + 9, std::byte{0x5a});
  UdpPacket p;
  ASSERT_TRUE(parse_udp_packet(v6, p));
  EXPECT_EQ(p.datagram.size(), 4u);
  EXPECT_EQ(p.whole.size(), 52u);
  EXPECT_TRUE(is_udp_checksum_right(p));
}

// [WIRE-021] A trimming switch leaves the UDP length alone, and may or may not mend the IP length.
TEST(FrameTest, TrimmedPacketsKeepTheReceivedLength) {
  for (const bool ip_length_mended : {false, true}) {
    Octets packet = octets(kIpv4);
    packet[25] = std::byte{200};  // the UDP length
    packet[3] = ip_length_mended ? std::byte{31} : std::byte{220};
    UdpPacket p;
    ASSERT_TRUE(parse_udp_packet(packet, p));
    EXPECT_TRUE(p.trimmed);
    EXPECT_EQ(p.datagram.size(), 3u);
  }
}

struct Damage {
  const char* what;
  bool v6;
  size_t at;
  uint8_t octet;
};

// [T-42] Fragments, options and extension headers among them.
TEST(FrameTest, AnythingElseIsRefused) {
  const Damage damages[] = {
      {"version 5", false, 0, 0x55},
      {"options", false, 0, 0x46},
      {"more fragments", false, 6, 0x60},
      {"a later fragment", false, 7, 0x01},
      {"TCP", false, 9, 6},
      {"IP shorter than its header", false, 3, 19},
      {"IP shorter than UDP", false, 3, 27},
      {"UDP shorter than its header", false, 25, 7},
      {"version 7", true, 0, 0x78},
      {"an extension header", true, 6, 0},
      {"no room for UDP", true, 5, 7},
      {"UDP of 7 octets", true, 45, 7},
  };
  UdpPacket p;
  for (const Damage& d : damages) {
    Octets packet = octets(d.v6 ? kIpv6 : kIpv4);
    ASSERT_TRUE(parse_udp_packet(packet, p)) << d.what;
    packet[d.at] = std::byte{d.octet};
    EXPECT_FALSE(parse_udp_packet(packet, p)) << d.what;
  }
  // Truncation at every octet: refused, or as long as the octets left.
  for (const char* const hex : {kIpv4, kIpv6}) {
    const Octets whole = octets(hex);
    const size_t headers = hex == kIpv4 ? 28 : 48;
    for (size_t length = 0; length < whole.size(); ++length) {
      Octets cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length));
      ASSERT_EQ(parse_udp_packet(cut, p), length >= headers) << length;
      if (length >= headers) {
        EXPECT_EQ(p.datagram.size(), length - headers);
      }
    }
  }
}

}  // namespace
}  // namespace uet::io
