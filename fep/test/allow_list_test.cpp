// Prefix lists: which addresses they admit, and which texts are refused. Then a whole FEP with a
// list.
#include "fep/allow_list.h"

#include "fep/derive.h"
#include "fep/fabric_endpoint.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace uet::fep {
namespace {

FabricAddress v4(uint8_t a, uint8_t b, uint8_t c, uint8_t d) {
  return FabricAddress::v4(uint32_t{a} << 24 | uint32_t{b} << 16 | uint32_t{c} << 8 | d);
}

FabricAddress v6(uint8_t first, uint8_t second, uint8_t last) {
  FabricAddress address;
  address.family = FabricAddress::Family::ipv6;
  address.ip = {first, second};
  address.ip[15] = last;
  return address;
}

AllowList list(const char* text) {
  const Result<AllowList> parsed = AllowList::parse(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : AllowList();
}

TEST(AllowListTest, AnEmptyListAdmitsAllAddresses) {
  const AllowList everybody;
  EXPECT_TRUE(everybody.admits(v4(10, 0, 0, 1)));
  EXPECT_TRUE(everybody.admits(v6(0x20, 1, 1)));
}

TEST(AllowListTest, APrefixEndsAtAnyBit) {
  const AllowList twenty = list("10.1.16.0/20");  // third octet 0001 xxxx
  EXPECT_TRUE(twenty.admits(v4(10, 1, 16, 0)));
  EXPECT_TRUE(twenty.admits(v4(10, 1, 31, 255)));
  EXPECT_FALSE(twenty.admits(v4(10, 1, 32, 0)));
  EXPECT_FALSE(twenty.admits(v4(10, 1, 15, 255)));
  EXPECT_FALSE(twenty.admits(v4(10, 2, 16, 0)));
  EXPECT_TRUE(list("0.0.0.0/0").admits(v4(255, 1, 2, 3)));
  EXPECT_TRUE(list("10.0.0.7").admits(v4(10, 0, 0, 7)));
  EXPECT_FALSE(list("10.0.0.7").admits(v4(10, 0, 0, 6)));
}

TEST(AllowListTest, FamiliesAreKeptApart) {
  const AllowList both = list("10.0.0.0/8,2001::/16");
  EXPECT_EQ(both.size(), 2u);
  EXPECT_TRUE(both.admits(v4(10, 9, 9, 9)));
  EXPECT_TRUE(both.admits(v6(0x20, 0x01, 5)));
  EXPECT_FALSE(both.admits(v6(0x20, 0x02, 5)));
  EXPECT_FALSE(list("0.0.0.0/0").admits(v6(0x20, 0x01, 5)));
  EXPECT_FALSE(list("a00::/8").admits(v4(10, 0, 0, 0))) << "the same octets, the other family";
}

TEST(AllowListTest, RefusesAnInvalidList) {
  for (const char* text :
       {"", ",", "10.0.0.0/8,", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8x",
        "10.0.0.1/8", "10.0.0", "2001::/129", "2001::1/16", "host", "10.0.0.0/8 10.1.0.0/16"}) {
    EXPECT_FALSE(AllowList::parse(text).ok()) << text;
  }
  std::string many = "10.0.0.1";
  for (uint32_t i = 1; i < AllowList::kPrefixesMax; ++i) many += ",10.0.0.1";
  EXPECT_TRUE(AllowList::parse(many).ok());
  EXPECT_FALSE(AllowList::parse(many + ",10.0.0.1").ok());
}

// Packets from other sources are counted and leave no state; no answer goes out.
TEST(AllowListTest, AFepDropsPacketsFromUnlistedSourcesUnread) {
  const Instant now = Instant::from_ns(1'000'000'000);
  Config config;
  derive(config);
  config.allow = list("10.0.0.0/24");
  auto fep = FabricEndpoint::create(config, v4(10, 0, 0, 1), 7);
  ASSERT_TRUE(fep.ok());
  FabricEndpoint& f = **fep;
  const auto counter = [&f](const char* wanted) {
    uint64_t found = UINT64_MAX;
    f.for_each_counter([&](const char* name, uint64_t value) {
      if (std::strcmp(name, wanted) == 0) found = value;
    });
    return found;
  };
  // RUD request (2), next header standard (3), SYN, PSN 0, SPDCID 5: it would open a PDC.
  std::byte syn[12] = {
      std::byte{0x11}, std::byte{0x84}, {}, {}, {}, {}, {}, {}, {}, std::byte{0x05}, {}, {}};
  TxBatch answers;
  RxDatagram datagram;
  datagram.bytes = syn;
  datagram.from = v4(10, 0, 1, 2);
  f.receive({&datagram, 1}, now);
  EXPECT_EQ(counter("drop_not_allowed"), 1u);
  EXPECT_EQ(counter("rx_packets"), 0u);
  EXPECT_EQ(f.peers().size(), 0u);
  EXPECT_EQ(f.transmit(answers, now), 0u);

  datagram.from = v4(10, 0, 0, 2);
  f.receive({&datagram, 1}, now);
  EXPECT_EQ(counter("drop_not_allowed"), 1u);
  EXPECT_EQ(counter("rx_packets"), 1u);
  EXPECT_EQ(counter("pdc_opened_target"), 1u);
  EXPECT_EQ(f.peers().size(), 1u);
}

}  // namespace
}  // namespace uet::fep
