// SipHash-2-4 against values that its authors published with it.
#include "base/siphash.h"

#include <gtest/gtest.h>

#include <array>

namespace uet {
namespace {

// Key 00 01 ... 0f; messages are the first octets of 00 01 02 ...
TEST(SipHashTest, MatchesThePublishedVectors) {
  const SipKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::array<std::byte, 63> message{};
  for (size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(i);
  const std::span<const std::byte> all = message;
  EXPECT_EQ(siphash(all.first(0), key), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(siphash(all.first(15), key), 0xa129ca6149be45e5u);
}

TEST(SipHashTest, EveryOctetAndTheKeyCount) {
  const SipKey key{1, 2};
  std::array<std::byte, 20> message{};
  const uint64_t plain = siphash(message, key);
  for (std::byte& octet : message) {
    octet = std::byte{1};
    EXPECT_NE(siphash(message, key), plain);
    octet = std::byte{0};
  }
  EXPECT_NE(siphash(message, {1, 3}), plain);
  EXPECT_NE(siphash(message, {0, 2}), plain);
}

}  // namespace
}  // namespace uet
