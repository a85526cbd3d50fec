// The text of IP addresses.
#include "wire/ip_address.h"

#include <gtest/gtest.h>

#include <string>

namespace uet::wire {
namespace {

std::string text_of(const IpAddress& a) {
  char text[64];
  Text out(text);
  print(out, a);
  return text;
}

// [LF-007] Shortened as RFC 5952 asks: the longest run of zeros, the first of equals, never one
// group.
TEST(IpAddressTest, TextIsCanonicalAndParsesBack) {
  for (const char* text : {"0.0.0.0", "255.255.255.255", "::", "::1", "1::", "2001:db8::1",
                           "2001:db8:0:1:1:1:1:1", "2001:0:0:1::1", "2001:db8::1:0:0:1",
                           "1:2:3:4:5:6:7:8", "fe80::a:b:c:d", "::ffff:1:2", "1:0:0:2::"}) {
    const auto parsed = parse_ip_address(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(text_of(*parsed), text);
  }
  EXPECT_EQ(text_of(*parse_ip_address("2001:DB8:0:0:0:0:0:1")), "2001:db8::1");
}

// [LF-007]
TEST(IpAddressTest, OtherTextIsRefused) {
  for (const char* text : {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1..2.3", "1.2.3.4 ", "a.b.c.d",
                           ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::",
                           "1:2:3:4:5:6:7:", "::g", "fe80::1%eth0", "1:2:3:4:5:6:7:8::"}) {
    EXPECT_FALSE(parse_ip_address(text).ok()) << text;
  }
}

}  // namespace
}  // namespace uet::wire
