// The legal payload sizes, and the one that fits a path, by hand.
#include "wire/payload_mtu.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>

namespace uet::wire {
namespace {

// [WIRE-098, SES-032] Four sizes and no other.
TEST(PayloadMtuTest, FourSizesAreLegal) {
  for (uint32_t octets = 0; octets <= 20'000; ++octets) {
    const bool is_one = octets == 1024 || octets == 2048 || octets == 4096 || octets == 8192;
    EXPECT_EQ(is_payload_mtu(octets), is_one) << octets;
  }
}

// [WIRE-099, SES-032] Beside the payload 208 octets have room: IPv6 and UDP 48, UET with security
// 160. The smallest payload is used where 128 are left: IPv6 and UDP 48, RUD 12, SES 44 and an
// extension of 24.
TEST(PayloadMtuTest, ThePayloadOfAPathLeavesRoomForTheHeaders) {
  struct Case {
    uint32_t ip_bytes;
    uint16_t payload;
  };
  constexpr Case kCases[] = {
      {0, 0},       {1151, 0},    {1152, 1024}, {1500, 1024}, {2255, 1024},  {2256, 2048},
      {4303, 2048}, {4304, 4096}, {8399, 4096}, {8400, 8192}, {65535, 8192},
  };
  for (const Case& c : kCases) {
    const volatile uint32_t ip_bytes = c.ip_bytes;  // not at compile time
    EXPECT_EQ(payload_for_path(ip_bytes), c.payload) << c.ip_bytes;
  }
}

}  // namespace
}  // namespace uet::wire
