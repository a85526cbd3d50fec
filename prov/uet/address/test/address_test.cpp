// UET addresses in every form that applications see, against octets written by hand.
#include "prov/uet/address/address.h"
#include "prov/uet/address/av_names.h"
#include "prov/uet/address/resolve.h"
#include "prov/uet/api/compat.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <array>
#include <cstring>
#include <string>

namespace uet::prov {
namespace {

FabricAddress ipv4(uint8_t a, uint8_t b, uint8_t c, uint8_t d, uint16_t port = kUetPort) {
  return FabricAddress::v4(uint32_t{a} << 24 | uint32_t{b} << 16 | uint32_t{c} << 8 | d, port);
}

std::string octets(std::initializer_list<int> list) {
  std::string text;
  for (const int octet : list) text.push_back(static_cast<char>(octet));
  return text;
}

// [LF-003, LF-004, LF-006] 192.0.2.7, port 16400, PIDonFEP 0x123, RI 2, one RI, initiator
// 0xA0B0C0D0, absolute, payload MTU 4096.
const std::string kFullOctets = octets({
    0x00,                    // version
    0x04,                    // family
    0x00, 0x3E,              // flags: FA, PIDonFEP, RI, initiator valid; absolute
    0x00, 0x00,              // capabilities
    0x01, 0x23,              // PIDonFEP
    0x00, 0x02,              // start RI
    0x00, 0x01,              // number of RIs
    0xA0, 0xB0, 0xC0, 0xD0,  // initiator ID
    192,  0,    2,    7,     // FA
    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 'U', 'E', 'T', 0,  // magic
    0x40, 0x10,                                                        // UDP port
    16,                                                                // payload MTU / 256
    0,
});

UetAddress full_address() {
  UetAddress a;
  a.fa = ipv4(192, 0, 2, 7, 16400);
  a.has_pid = a.has_ri = a.has_initiator = a.absolute = true;
  a.pid = 0x123;
  a.ri = 2;
  a.ri_count = 1;
  a.initiator_id = 0xA0B0C0D0;
  a.payload_mtu = 4096;
  return a;
}

TEST(AddressTest, OwnFormHasFortyOctetsAsDocumented) {
  ASSERT_EQ(kFullOctets.size(), 40u);
  EXPECT_EQ(write_address(FI_FORMAT_UNSPEC, full_address()), kFullOctets);
  EXPECT_EQ(write_address(kAddrUet, full_address()), kFullOctets);  // [LF-008]
}

TEST(AddressTest, OwnFormIsReadBack) {
  const auto read = read_address(FI_FORMAT_UNSPEC, kFullOctets.data(), kFullOctets.size());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, full_address());
}

// [LF-004, LF-006] A port of 0 is 4793.
TEST(AddressTest, UnstatedFieldsReadAsAbsent) {
  std::string text = kFullOctets;
  text[3] = 0x02;  // only the FA is valid
  text[36] = text[37] = 0;
  const auto read = read_address(FI_FORMAT_UNSPEC, text.data(), text.size());
  ASSERT_TRUE(read.ok());
  UetAddress expected;
  expected.fa = ipv4(192, 0, 2, 7);
  expected.payload_mtu = 4096;
  EXPECT_EQ(*read, expected);
}

// [LF-003, LF-006]
TEST(AddressTest, ForeignOctetsAreRefused) {
  struct Case {
    size_t at;
    char value;
  };
  // Version, magic, family that contradicts the flags, PIDonFEP and RI wider than 12 bits, RI 0,
  // more resource indices than there are from this one on.
  for (const Case c : {Case{0, 1}, Case{32, 'X'}, Case{1, 6}, Case{6, 0x10}, Case{8, 0x10},
                       Case{9, 0}, Case{10, 0x10}}) {
    std::string text = kFullOctets;
    text[c.at] = c.value;
    EXPECT_FALSE(read_address(FI_FORMAT_UNSPEC, text.data(), text.size()).ok()) << c.at;
  }
  for (size_t bytes = 0; bytes < kUetAddressBytes; ++bytes) {
    EXPECT_FALSE(read_address(FI_FORMAT_UNSPEC, kFullOctets.data(), bytes).ok()) << bytes;
  }
}

// [LF-004, LF-005] AI Full and HPC, over IPv6.
TEST(AddressTest, CapabilitiesAndTheFamilyHaveTheirFlags) {
  UetAddress a = full_address();
  a.fa.family = FabricAddress::Family::ipv6;
  a.capabilities = 0x0006;
  const std::string text = write_address(FI_FORMAT_UNSPEC, a);
  EXPECT_EQ(text[1], 6);
  EXPECT_EQ(text[2], 0x00);
  EXPECT_EQ(text[3], 0x7F);  // all valid, absolute, IPv6
  EXPECT_EQ(text.substr(4, 2), octets({0x00, 0x06}));
  const auto read = read_address(FI_FORMAT_UNSPEC, text.data(), text.size());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, a);
}

// [LF-140] What processes of one host take from each other; older builds leave it zero.
TEST(AddressTest, TheLastOctetIsThePayloadOfOneHost) {
  UetAddress a = full_address();
  a.payload_host = 8192;
  const std::string text = write_address(FI_FORMAT_UNSPEC, a);
  EXPECT_EQ(text.substr(0, 39), kFullOctets.substr(0, 39));
  EXPECT_EQ(text[39], 32);
  const auto read = read_address(FI_FORMAT_UNSPEC, text.data(), text.size());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, a);
}

// [LF-007] docs/versions.md: a later build of version 0 may set unknown flags, use the last octet
// and append more; the known fields are still read.
TEST(AddressTest, ALaterBuildsAddressIsReadAsFarAsItIsKnown) {
  std::string text = kFullOctets;
  text[2] = static_cast<char>(0xFF);
  text += "more";
  const auto read = read_address(FI_FORMAT_UNSPEC, text.data(), text.size());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, full_address());
}

// [LF-007]
TEST(AddressTest, StringFormStatesAllFields) {
  const std::string text = "fi_addr_uet://192.0.2.7:16400/291/2/2695938256?mode=abs&mtu=4096";
  EXPECT_EQ(to_string(full_address()), text);
  const auto read = read_address(FI_ADDR_STR, text.c_str(), text.size() + 1);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, full_address());
}

TEST(AddressTest, StringFormMarksUnstatedFields) {
  UetAddress a;
  a.fa = ipv4(10, 0, 0, 1);
  EXPECT_EQ(to_string(a), "fi_addr_uet://10.0.0.1/*/*/*");
  for (const char* text : {"fi_addr_uet://10.0.0.1", "fi_addr_uet://10.0.0.1/*/*/*"}) {
    const auto read = read_address(FI_ADDR_STR, text, SIZE_MAX);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(*read, a) << text;
  }
}

TEST(AddressTest, StringFormTakesIpv6InBrackets) {
  const auto read = read_address(FI_ADDR_STR, "fi_addr_uet://[fd00::2]:16384/5/1/9", SIZE_MAX);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->fa.family, FabricAddress::Family::ipv6);
  EXPECT_EQ(read->fa.ip[0], 0xFD);
  EXPECT_EQ(read->fa.ip[15], 2);
  EXPECT_EQ(read->fa.port, 16384);
  EXPECT_EQ(to_string(*read), "fi_addr_uet://[fd00::2]:16384/5/1/9");
}

// [LF-007]
TEST(AddressTest, BrokenStringsAreRefused) {
  for (const char* text :
       {"", "10.0.0.1", "fi_addr_uet://", "fi_addr_uet://10.0.0", "fi_addr_uet://10.0.0.1:0",
        "fi_addr_uet://10.0.0.1:70000", "fi_addr_uet://10.0.0.1/1/2/4294967296",
        "fi_addr_uet://10.0.0.256", "fi_addr_uet://[10.0.0.1]", "fi_addr_uet://10.0.0.1/4096",
        "fi_addr_uet://10.0.0.1/1/0", "fi_addr_uet://10.0.0.1/1/2/x",
        "fi_addr_uet://10.0.0.1/1/2/3/4", "fi_addr_uet://10.0.0.1/1/2/3?mode=no",
        "fi_addr_uet://10.0.0.1?mtu", "fi_addr_uet://10.0.0.1?mtu=100",
        "fi_addr_uet://10.0.0.1?mode=abs&", "fi_addr_uet://[fd00::2", "fi_addr_uet://fd00::2/1"}) {
    EXPECT_FALSE(read_address(FI_ADDR_STR, text, SIZE_MAX).ok()) << text;
  }
}

// [LF-008, LF-014] A number below 4096 is the PIDonFEP; above, it also selects an RI.
TEST(AddressTest, SocketAddressPortNamesTheEndpoint) {
  sockaddr_in sin{};
  sin.sin_family = AF_INET;
  sin.sin_port = htons(9228);  // 2 * 4096 + 1036
  sin.sin_addr.s_addr = htonl(0xC0000207);
  const auto read = read_address(FI_SOCKADDR_IN, &sin, sizeof sin);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->fa, ipv4(192, 0, 2, 7));
  EXPECT_EQ(read->pid, 1036);
  EXPECT_EQ(read->ri, 3);
  EXPECT_EQ(read->initiator_id, 9228u);
  const std::string back = write_address(FI_SOCKADDR_IN, *read);
  ASSERT_EQ(back.size(), sizeof sin);
  EXPECT_EQ(memcmp(back.data(), &sin, sizeof sin), 0);
}

TEST(AddressTest, SocketAddressOfTheOtherFamilyIsRefused) {
  sockaddr_in sin{};
  sin.sin_family = AF_INET;
  EXPECT_FALSE(read_address(FI_SOCKADDR_IN6, &sin, sizeof sin).ok());
  sin.sin_family = 0;
  EXPECT_FALSE(read_address(FI_SOCKADDR, &sin, sizeof sin).ok());
  EXPECT_TRUE(write_address(FI_SOCKADDR_IN6, full_address()).empty());
}

TEST(AddressTest, CopyCutsAndTellsTheFullSize) {
  std::array<char, 40> room{};
  size_t length = 8;
  EXPECT_FALSE(copy_address(kFullOctets, room.data(), &length));
  EXPECT_EQ(length, 40u);
  EXPECT_EQ(std::string(room.data(), 8), kFullOctets.substr(0, 8));
  EXPECT_EQ(room[8], 0);
  EXPECT_TRUE(copy_address(kFullOctets, room.data(), &length));
  EXPECT_EQ(std::string(room.data(), room.size()), kFullOctets);
}

// [LF-014]
TEST(ResolveTest, ServicesAreNumbersOrPairs) {
  UetAddress a;
  ASSERT_TRUE(apply_service("4095", a).ok());
  EXPECT_EQ(a.pid, 4095);
  EXPECT_EQ(a.ri, kBaseRi);
  ASSERT_TRUE(apply_service("4096", a).ok());
  EXPECT_EQ(a.pid, 0);
  EXPECT_EQ(a.ri, kBaseRi + 1);
  ASSERT_TRUE(apply_service("47592", a).ok());  // 11 * 4096 + 2536
  EXPECT_EQ(a.pid, 2536);
  EXPECT_EQ(a.ri, kBaseRi + 11);
  EXPECT_EQ(service_number(a), 47592);
  ASSERT_TRUE(apply_service("7:30", a).ok());
  EXPECT_EQ(a.pid, 7);
  EXPECT_EQ(a.ri, 30);
  for (const char* bad : {"", "x", "65536", "-1", "1:0", "4096:1", "1:4096", "1:2:3", "1 "}) {
    EXPECT_FALSE(apply_service(bad, a).ok()) << bad;
  }
}

TEST(ResolveTest, LoopbackIsReachedFromLoopback) {
  const auto local = local_address_toward(ipv4(127, 0, 0, 9));
  ASSERT_TRUE(local.ok());
  EXPECT_EQ(local->ip[0], 127);
}

// fi_av_insertsym's example: all services of a node before the next node.
TEST(AvNamesTest, ServicesCountFasterThanNodes) {
  const SymmetricNames names{"10.1.1.255", "5000", 2, FabricAddress::Family::ipv4};
  const struct {
    FabricAddress fa;
    uint16_t service;
  } expected[] = {{ipv4(10, 1, 1, 255), 5000},
                  {ipv4(10, 1, 1, 255), 5001},
                  {ipv4(10, 1, 2, 0), 5000},
                  {ipv4(10, 1, 2, 0), 5001}};
  for (size_t i = 0; i < 4; ++i) {
    const auto address = names.address(i);
    ASSERT_TRUE(address.ok()) << i;
    EXPECT_EQ(address->fa, expected[i].fa) << i;
    EXPECT_EQ(service_number(*address), expected[i].service) << i;
  }
}

TEST(AvNamesTest, HostNamesKeepTheirDigits) {
  EXPECT_EQ(counted_name("host10", 1), "host11");
  EXPECT_EQ(counted_name("node008", 2), "node010");
  EXPECT_EQ(counted_name("n9", 1), "n10");
  EXPECT_EQ(counted_name("host", 1), "");
}

}  // namespace
}  // namespace uet::prov
