// The UET libfabric address and the text of IP addresses, against octets written by hand.
#include "wire/address.h"

#include "wire/test/octets_of.h"

#include <gtest/gtest.h>

#include <string>

namespace uet::wire {
namespace {

using test::emitted;
using test::hex_of;
using test::Octets;
using test::octets_of;

std::string text_of(const UetAddress& a) {
  char text[128];
  const size_t n = print(text, a);
  EXPECT_EQ(n, std::string(text).size());
  return text;
}

std::string text_of(const IpAddress& a) {
  char text[64];
  Text out(text);
  print(out, a);
  return text;
}

// Family 4; flags 0x001F: all five fields valid; AI Base and AI Full; PIDonFEP 0x345; RI 0x123, one
// of them; initiator 7; 192.168.1.2; magic; port 16384; 8192 octets = 32 units.
constexpr std::string_view kV4 =
    "00 04 001f 0003 0345 0123 0001 00000007 c0a80102000000000000000000000000 55455400 4000 20 00";

UetAddress v4_address() {
  UetAddress a;
  a.flags = 0x1F;
  a.capabilities = UetAddress::kAiBase | UetAddress::kAiFull;
  a.pid_on_fep = PidOnFep(0x345);
  a.start_resource_index = ResourceIndex(0x123);
  a.resource_index_count = 1;
  a.initiator_id = 7;
  a.fabric_address = IpAddress::v4(0xC0A80102);
  a.udp_port = 16384;
  a.payload_mtu_bytes = 8192;
  return a;
}

// [LF-003, LF-004, LF-005, LF-006]
TEST(AddressTest, Ipv4AddressHasTheOctetsWrittenByHand) {
  const Octets octets = octets_of(kV4);
  ASSERT_EQ(octets.size(), UetAddress::kSize);
  EXPECT_EQ(hex_of(emitted(v4_address())), hex_of(octets));
  Reader r(octets);
  const auto parsed = UetAddress::parse(r);
  ASSERT_TRUE(parsed.ok()) << name(parsed.error());
  EXPECT_EQ(*parsed, v4_address());
  EXPECT_EQ(r.remaining(), 0U);
}

// [LF-004, LF-006] The type flag 0x0040 goes with family 6; absolute mode is 0x0020.
TEST(AddressTest, Ipv6AddressHasTheOctetsWrittenByHand) {
  UetAddress a;
  a.flags = UetAddress::kFabricAddressValid | UetAddress::kAbsolute;
  a.fabric_address = IpAddress::v6({0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  const Octets octets = octets_of(
      "00 06 0062 0000 0000 0000 0000 00000000 20010db8000000000000000000000001 55455400 0000 "
      "0000");
  EXPECT_EQ(hex_of(emitted(a)), hex_of(octets));
  Reader r(octets);
  const auto parsed = UetAddress::parse(r);
  ASSERT_TRUE(parsed.ok()) << name(parsed.error());
  EXPECT_EQ(*parsed, a);
  EXPECT_TRUE(parsed->has(UetAddress::kAbsolute));
  EXPECT_FALSE(parsed->has(UetAddress::kPidOnFepValid));
}

// [LF-003, LF-006] One octet changed, one cause.
TEST(AddressTest, EveryBrokenFieldHasItsCause) {
  struct Case {
    size_t at;
    int value;
    AddressError cause;
  };
  constexpr Case kCases[] = {
      {0, 1, AddressError::version},
      {1, 5, AddressError::family},
      {1, 6, AddressError::family},
      {3, 0x5F, AddressError::family},
      {6, 0x10, AddressError::pid_on_fep},
      {8, 0x10, AddressError::resource_index},
      {10, 0x0F, AddressError::resource_index},
      {32, 'V', AddressError::magic},
      {35, 1, AddressError::magic},
  };
  for (const Case& c : kCases) {
    Octets octets = octets_of(kV4);
    octets[c.at] = static_cast<std::byte>(c.value);
    Reader r(octets);
    const auto parsed = UetAddress::parse(r);
    ASSERT_FALSE(parsed.ok()) << "octet " << c.at;
    EXPECT_EQ(parsed.error(), c.cause) << "octet " << c.at << " " << name(parsed.error());
    EXPECT_EQ(r.position(), 0U);
  }
}

TEST(AddressTest, EveryTruncationIsSeen) {
  const Octets octets = octets_of(kV4);
  for (size_t n = 0; n < octets.size(); ++n) {
    Reader r(std::span<const std::byte>(octets).first(n));
    EXPECT_EQ(UetAddress::parse(r).error(), AddressError::truncated);
  }
}

// The last resource index of an address may be the last there is.
TEST(AddressTest, ResourceIndexRangeMayEndAtTheLimit) {
  Octets octets = octets_of(kV4);
  octets[8] = std::byte{0x0F};
  octets[9] = std::byte{0xFF};
  Reader r(octets);
  EXPECT_TRUE(UetAddress::parse(r).ok());
}

// [LF-007]
TEST(AddressTest, TextFormIsTheDocumentedOne) {
  UetAddress a = v4_address();
  EXPECT_EQ(text_of(a), "fi_addr_uet://192.168.1.2:16384/837/291/7");
  a.udp_port = 0;
  a.flags |= UetAddress::kAbsolute;
  EXPECT_EQ(text_of(a), "fi_addr_uet://192.168.1.2/837/291/7?mode=abs");
  a.fabric_address = IpAddress::v6({0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2});
  EXPECT_EQ(text_of(a), "fi_addr_uet://[2001:db8::2]/837/291/7?mode=abs");
}

TEST(AddressTest, TextIsCutToTheBufferAndItsFullLengthIsReturned) {
  char text[8];
  EXPECT_EQ(print(text, v4_address()), 41U);
  EXPECT_STREQ(text, "fi_addr");
  EXPECT_EQ(print({}, v4_address()), 41U);
}

// [LF-007]
TEST(AddressTest, TextParsesBack) {
  for (const char* text :
       {"fi_addr_uet://192.168.1.2:16384/837/291/7", "fi_addr_uet://10.0.0.1/0/0/4294967295",
        "fi_addr_uet://[fe80::1]:1/4095/4095/1?mode=abs"}) {
    const auto parsed = parse_uet_address(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(text_of(*parsed), text);
    EXPECT_EQ(parsed->resource_index_count, 1);
    EXPECT_TRUE(parsed->has(UetAddress::kFabricAddressValid | UetAddress::kPidOnFepValid |
                            UetAddress::kResourceIndexValid | UetAddress::kInitiatorIdValid));
  }
}

// [LF-007]
TEST(AddressTest, OtherTextIsRefused) {
  for (const char* text :
       {"", "fi_addr_uet://", "10.0.0.1/0/0/0", "fi_addr_uet://10.0.0.1",
        "fi_addr_uet://10.0.0.1/0/0", "fi_addr_uet://10.0.0.1/4096/0/0",
        "fi_addr_uet://10.0.0.1/0/4096/0", "fi_addr_uet://10.0.0.1/0/0/4294967296",
        "fi_addr_uet://10.0.0.1:65536/0/0/0", "fi_addr_uet://10.0.0.1:/0/0/0",
        "fi_addr_uet://10.0.0.256/0/0/0", "fi_addr_uet://2001:db8::1/0/0/0",
        "fi_addr_uet://[10.0.0.1]/0/0/0", "fi_addr_uet://[::1/0/0/0",
        "fi_addr_uet://10.0.0.1/0/0/0?mode=rel", "fi_addr_uet://10.0.0.1/-1/0/0",
        "fi_addr_uet://10.0.0.1/0/0/0 "}) {
    EXPECT_FALSE(parse_uet_address(text).ok()) << text;
  }
}

// [LF-007] Shortened as RFC 5952 asks: the longest run of zeros, the first of equals, never one
// group.
TEST(AddressTest, IpTextIsCanonicalAndParsesBack) {
  for (const char* text : {"0.0.0.0", "255.255.255.255", "::", "::1", "1::", "2001:db8::1",
                           "2001:db8:0:1:1:1:1:1", "2001:0:0:1::1", "2001:db8::1:0:0:1",
                           "1:2:3:4:5:6:7:8", "fe80::a:b:c:d", "::ffff:1:2", "1:0:0:2::"}) {
    const auto parsed = parse_ip_address(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(text_of(*parsed), text);
  }
  EXPECT_EQ(text_of(*parse_ip_address("2001:DB8:0:0:0:0:0:1")), "2001:db8::1");
}

TEST(AddressTest, OtherIpTextIsRefused) {
  for (const char* text : {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1..2.3", "1.2.3.4 ", "a.b.c.d",
                           ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::",
                           "1:2:3:4:5:6:7:", "::g", "fe80::1%eth0", "1:2:3:4:5:6:7:8::"}) {
    EXPECT_FALSE(parse_ip_address(text).ok()) << text;
  }
}

}  // namespace
}  // namespace uet::wire
