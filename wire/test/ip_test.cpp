// IP, UDP, entropy and Ethernet headers, and the Internet checksum.
#include "wire/ip.h"
#include "wire/defaults.h"
#include "wire/ethernet.h"

#include "wire/test/octets_of.h"

#include <gtest/gtest.h>

namespace uet::wire {
namespace {

using test::emitted;
using test::hex_of;
using test::Octets;
using test::octets_of;

// ECT(0), 92 octets, DF, TTL 64, UDP, 192.168.1.1 to .2; checksum b73b summed by hand.
constexpr std::string_view kV4 = "4502005c 00004000 4011b73b c0a80101 c0a80102";

Ipv4Header v4_header() {
  Ipv4Header h;
  h.ecn = 2;
  h.total_length = 92;
  h.src = IpAddress::v4(0xC0A80101);
  h.dst = IpAddress::v4(0xC0A80102);
  return h;
}

template <class Header>
ParseError refusal(const Octets& octets) {
  Reader r(octets);
  return Header::parse(r).error();
}

// [WIRE-010]
TEST(IpTest, Ipv4HeaderHasTheOctetsWrittenByHand) {
  const Octets octets = octets_of(kV4);
  EXPECT_EQ(hex_of(emitted(v4_header())), hex_of(octets));
  Reader r(octets);
  const auto parsed = Ipv4Header::parse(r);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(*parsed, v4_header());
  for (size_t n = 0; n < octets.size(); ++n) {
    Reader cut(std::span<const std::byte>(octets).first(n));
    EXPECT_EQ(Ipv4Header::parse(cut).error(), ParseError::truncated);
  }
}

// [WIRE-010, WIRE-012]
TEST(IpTest, Ipv4HeaderIsRefusedForItsCause) {
  Octets octets = octets_of(kV4);
  octets[0] = std::byte{0x65};
  EXPECT_EQ(refusal<Ipv4Header>(octets), ParseError::wrong_type);
  octets[0] = std::byte{0x46};
  EXPECT_EQ(refusal<Ipv4Header>(octets), ParseError::ipv4_options);
  octets[0] = std::byte{0x44};
  EXPECT_EQ(refusal<Ipv4Header>(octets), ParseError::ipv4_options);
  for (size_t i = 0; i < 160; ++i) {  // every single bit matters to the checksum
    octets = octets_of(kV4);
    octets[i / 8] ^= static_cast<std::byte>(0x80 >> i % 8);
    Reader r(octets);
    EXPECT_FALSE(Ipv4Header::parse(r).ok()) << "bit " << i;
  }
  Ipv4Header h = v4_header();
  h.mf = true;
  EXPECT_EQ(refusal<Ipv4Header>(emitted(h)), ParseError::fragment);
  h.mf = false;
  h.fragment_offset = 1;
  EXPECT_EQ(refusal<Ipv4Header>(emitted(h)), ParseError::fragment);
}

TEST(IpTest, Ipv6HeaderHasTheOctetsWrittenByHand) {
  Ipv6Header h;
  h.dscp = 46;
  h.ecn = 2;
  h.flow_label = 0x12345;
  h.payload_length = 72;
  h.src.octets = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  h.dst.octets = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  const Octets octets = octets_of(  // 6, then 10111010 = 46 and 10, then the label
      "6ba12345 0048 11 40 20010db8000000000000000000000001 20010db8000000000000000000000002");
  EXPECT_EQ(hex_of(emitted(h)), hex_of(octets));
  Reader r(octets);
  const auto parsed = Ipv6Header::parse(r);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(*parsed, h);
  for (size_t n = 0; n < octets.size(); ++n) {
    Reader cut(std::span<const std::byte>(octets).first(n));
    EXPECT_EQ(Ipv6Header::parse(cut).error(), ParseError::truncated);
  }
  EXPECT_EQ(refusal<Ipv6Header>(Octets(40)), ParseError::wrong_type);
}

// [WIRE-011] Hop-by-hop of 8 octets, destination options of 16, then UDP.
TEST(IpTest, AllowedExtensionHeadersAreSkipped) {
  const Octets octets = octets_of("3c00010400000000 1101010c000000000000000000000000 beef");
  Reader r(octets);
  const auto seen = Ipv6Extensions::skip(r, 0);
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(seen->count, 2);
  EXPECT_EQ(seen->types[0], 0);
  EXPECT_EQ(seen->types[1], 60);
  EXPECT_EQ(seen->protocol, 17);
  EXPECT_EQ(r.remaining(), 2U);
  for (size_t n = 0; n < 24; ++n) {
    Reader cut(std::span<const std::byte>(octets).first(n));
    EXPECT_EQ(Ipv6Extensions::skip(cut, 0).error(), ParseError::truncated) << n;
  }
}

// [WIRE-011] All four kinds behind each other, 8 octets each: hop-by-hop, routing, destination
// options, mobility.
TEST(IpTest, EveryKindOfExtensionHeaderThatMayBeThereIsSkipped) {
  const Octets octets =
      octets_of("2b00000000000000 3c00000000000000 8700000000000000 1100000000000000 beef");
  Reader r(octets);
  const auto seen = Ipv6Extensions::skip(r, 0);
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(seen->count, 4);
  EXPECT_EQ(seen->types[3], 135);
  EXPECT_EQ(seen->protocol, 17);
  EXPECT_EQ(r.remaining(), 2U);
}

// [WIRE-011, WIRE-012]
TEST(IpTest, FragmentsAndEndlessChainsAreRefused) {
  const Octets to_fragment = octets_of("2c00000000000000 1100000000000000");
  Reader r(to_fragment);
  EXPECT_EQ(Ipv6Extensions::skip(r, 43).error(), ParseError::fragment);
  Octets endless(8 * 64);  // hop-by-hop after hop-by-hop
  Reader e(endless);
  EXPECT_EQ(Ipv6Extensions::skip(e, 0).error(), ParseError::wrong_type);
}

// [WIRE-024] 10.0.0.1 to 10.0.0.2, ports 1 and 2, "A": summed by hand:
// 0a00+0001+0a00+0002+0011+0009 + 0001+0002+0009+4100 = 5529, inverted aad6.
TEST(IpTest, UdpChecksumIsTheOneSummedByHand) {
  const IpAddress src = IpAddress::v4(0x0A000001);
  const IpAddress dst = IpAddress::v4(0x0A000002);
  Octets datagram = octets_of("0001 0002 0009 0000 41");
  EXPECT_EQ(udp_checksum(src, dst, datagram), 0xAAD6);
  EXPECT_TRUE(udp_checksum_is_right(src, dst, datagram)) << "0 is none";
  datagram[6] = std::byte{0xAA};
  datagram[7] = std::byte{0xD6};
  EXPECT_TRUE(udp_checksum_is_right(src, dst, datagram));
  datagram[8] ^= std::byte{1};
  EXPECT_FALSE(udp_checksum_is_right(src, dst, datagram));
  EXPECT_FALSE(udp_checksum_is_right(src, dst, std::span(datagram).first(7)));
}

// [WIRE-024] A sum that comes out as 0 is sent as ffff.
TEST(IpTest, UdpChecksumIsNeverZero) {
  const IpAddress src = IpAddress::v4(0);
  // 0011 + 000a + length 000a, then the word that fills up to ffff.
  const Octets datagram = octets_of("0000 0000 000a 0000 ffda");
  EXPECT_EQ(udp_checksum(src, src, datagram), 0xFFFF);
}

// [WIRE-013, WIRE-104]
TEST(IpTest, EntropyHeaderHasTheOctetsWrittenByHand) {
  EXPECT_EQ(hex_of(emitted(EntropyHeader{Entropy(0xBEEF)})), "beef0000");
  const Octets octets = octets_of("beefffff");
  Reader r(octets);
  EXPECT_EQ(*EntropyHeader::parse(r), EntropyHeader{Entropy(0xBEEF)});
  Reader cut(std::span<const std::byte>(octets).first(3));
  EXPECT_EQ(EntropyHeader::parse(cut).error(), ParseError::truncated);
}

TEST(IpTest, UdpHeaderHasTheOctetsWrittenByHand) {
  const UdpHeader h{0xBEEF, kUdpPort, 72, 0x5F4D};
  EXPECT_EQ(hex_of(emitted(h)), "beef12b900485f4d");  // [WIRE-006] 4793 is 12b9
  const Octets octets = emitted(h);
  for (size_t n = 0; n < 8; ++n) {
    Reader cut(std::span<const std::byte>(octets).first(n));
    EXPECT_EQ(UdpHeader::parse(cut).error(), ParseError::truncated);
  }
  Reader r(octets);
  EXPECT_EQ(*UdpHeader::parse(r), h);
}

// [WIRE-005]
TEST(IpTest, EthernetHeaderTakesTwoTagsAtMost) {
  const Octets octets = octets_of("020000000002 020000000001 8100 0064 88a8 e0c8 8100 0001 0800");
  Reader r(octets);
  const auto parsed = EthernetHeader::parse(r);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->tag_count, 2);
  EXPECT_EQ(parsed->tags[0].vlan_id(), 100);
  EXPECT_EQ(parsed->tags[1].vlan_id(), 200);
  EXPECT_EQ(parsed->ethertype, 0x8100);
  EXPECT_EQ(hex_of(emitted(*parsed)), hex_of(std::span<const std::byte>(octets).first(22)));
  for (size_t n = 0; n < 22; ++n) {
    Reader cut(std::span<const std::byte>(octets).first(n));
    EXPECT_EQ(EthernetHeader::parse(cut).error(), ParseError::truncated) << n;
    EXPECT_EQ(cut.position(), 0U);
  }
}

}  // namespace
}  // namespace uet::wire
