// The MTU of routes, from this host's kernel. [LF-140]
#include "io/host/routes.h"

#include "io/host/interfaces.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace uet::io {
namespace {

FabricAddress ipv4(uint8_t a, uint8_t b, uint8_t c, uint8_t d) {
  return FabricAddress::v4(uint32_t{a} << 24 | uint32_t{b} << 16 | uint32_t{c} << 8 | d);
}

// From a host to any of its own addresses packets take the loopback interface.
TEST(RoutesTest, EveryAddressOfThisHostIsReachedByLoopback) {
  const std::vector<Interface> interfaces = list_interfaces();
  const auto lo = std::find_if(interfaces.begin(), interfaces.end(),
                               [](const Interface& i) { return i.is_loopback(); });
  ASSERT_NE(lo, interfaces.end());
  Routes routes;
  for (const Interface& i : interfaces) {
    const Route route = routes.find(i.address, i.address, Instant::zero());
    EXPECT_TRUE(route.is_local) << i.name << " " << ip_text(i.address);
    EXPECT_EQ(route.mtu_bytes, lo->mtu_bytes) << i.name << " " << ip_text(i.address);
  }
}

TEST(RoutesTest, AnswersOutliveTheDescriptorAndAMissingRouteHasNone) {
  Routes routes;
  const FabricAddress self = ipv4(127, 0, 0, 1);
  ASSERT_TRUE(routes.find(self, ipv4(127, 0, 0, 9), Instant::zero()).is_local);
  routes.rest();
  EXPECT_TRUE(routes.find(self, ipv4(127, 0, 0, 9), Instant::zero()).is_local);
  EXPECT_TRUE(
      routes.find(self, ipv4(127, 1, 0, 9), Instant::zero() + Duration::seconds(9)).is_local);
  // A multicast group is not a host, and no packet leaves from an address that does not exist.
  EXPECT_EQ(routes.find(ipv4(192, 0, 2, 1), ipv4(192, 0, 2, 2), Instant::zero()).is_local, false);
}

}  // namespace
}  // namespace uet::io
