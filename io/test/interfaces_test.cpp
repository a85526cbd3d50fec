// The interface list: what must hold on any host, and the loopback that every host has.
#include "io/host/interfaces.h"

#include <gtest/gtest.h>

namespace uet::io {
namespace {

FabricAddress ipv4(uint8_t a, uint8_t b, uint8_t c, uint8_t d) {
  return FabricAddress::v4(uint32_t{a} << 24 | uint32_t{b} << 16 | uint32_t{c} << 8 | d);
}

TEST(InterfacesTest, LoopbackIsListedWithItsProperties) {
  const std::vector<Interface> all = list_interfaces();
  const Interface* lo = find_interface(all, ipv4(127, 0, 0, 1));
  ASSERT_NE(lo, nullptr);
  EXPECT_EQ(lo->address, ipv4(127, 0, 0, 1));
  EXPECT_EQ(lo->name, "lo");
  EXPECT_EQ(lo->prefix_bits, 8);
  EXPECT_TRUE(lo->is_loopback());
  EXPECT_FALSE(lo->is_link_local());
  EXPECT_GT(lo->index, 0u);
  EXPECT_GE(lo->mtu_bytes, 16384u);
  EXPECT_EQ(lo->mac, (std::array<uint8_t, 6>{}));
}

TEST(InterfacesTest, AnyLoopbackAddressBelongsToTheLoopback) {
  const std::vector<Interface> all = list_interfaces();
  const Interface* found = find_interface(all, ipv4(127, 200, 3, 4));
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->is_loopback());
  EXPECT_EQ(find_interface(all, ipv4(192, 0, 2, 1)), nullptr);  // documentation prefix
}

TEST(InterfacesTest, TheBestComesFirst) {
  const std::vector<Interface> all = list_interfaces();
  ASSERT_FALSE(all.empty());
  for (size_t i = 1; i < all.size(); ++i) {
    const Interface& a = all[i - 1];
    const Interface& b = all[i];
    EXPECT_LE(a.is_loopback(), b.is_loopback());
    if (a.is_loopback() != b.is_loopback()) continue;
    EXPECT_LE(a.is_link_local(), b.is_link_local());
    if (a.is_link_local() != b.is_link_local() || a.index != b.index) continue;
    EXPECT_LE(a.address.family, b.address.family);
  }
  for (const Interface& i : all) {
    EXPECT_TRUE(i.address.valid()) << i.name;
    EXPECT_EQ(i.address.port, kUetPort) << i.name;
    EXPECT_GT(i.mtu_bytes, 0u) << i.name;
  }
}

}  // namespace
}  // namespace uet::io
