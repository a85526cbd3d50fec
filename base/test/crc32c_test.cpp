// CRC-32C: check values, and both forms against a bit-by-bit one.
#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <cinttypes>
#include <random>
#include <string_view>
#include <vector>

namespace uet {
namespace {

using Octets = std::vector<std::byte>;

// The definition, one bit at a time.
uint32_t crc32c_by_definition(std::span<const std::byte> octets) {
  uint32_t sum = 0xFFFFFFFF;
  for (const std::byte octet : octets) {
    sum ^= static_cast<uint32_t>(octet);
    for (int i = 0; i < 8; ++i) sum = (sum >> 1) ^ ((sum & 1U) != 0 ? 0x82F63B78U : 0U);
  }
  return ~sum;
}

// [WIRE-090] The check value of the algorithm; zeros, ones from the iSCSI specification.
TEST(Crc32cTest, CheckValuesOfTheAlgorithmComeOut) {
  const std::span<const std::byte> digits =
      std::as_bytes(std::span(std::string_view("123456789")));
  EXPECT_EQ(crc32c(digits), 0xE3069283U);
  EXPECT_EQ(crc32c_software(digits), 0xE3069283U);
  EXPECT_EQ(crc32c(Octets(32, std::byte{0})), 0x8A9136AAU);
  EXPECT_EQ(crc32c(Octets(32, std::byte{0xFF})), 0x62A8AB43U);
  EXPECT_EQ(crc32c({}), 0U);
}

// [WIRE-093] The sum of the wire reference's example.
TEST(Crc32cTest, ItTravelsLeastSignificantOctetFirst) {
  constexpr CrcOctets kOctets{std::byte{0xd5}, std::byte{0x64}, std::byte{0x46}, std::byte{0x26}};
  EXPECT_EQ(crc_octets(0x264664D5), kOctets);
  EXPECT_EQ(crc_of(kOctets), 0x264664D5U);
}

TEST(Crc32cTest, BothFormsAgreeWithTheDefinitionAtEveryLengthAndAlignment) {
  constexpr uint64_t kSeed = 90;
  std::printf("seed %" PRIu64 ", hardware form %s\n", kSeed,
              crc32c_has_hardware() ? "tested" : "not on this processor");
  std::mt19937_64 random(kSeed);
  Octets octets(300);
  for (auto& b : octets) b = static_cast<std::byte>(random());
  for (size_t start = 0; start < 9; ++start) {
    for (size_t n = 0; n + start <= octets.size(); ++n) {
      const auto piece = std::span<const std::byte>(octets).subspan(start, n);
      const uint32_t expected = crc32c_by_definition(piece);
      ASSERT_EQ(crc32c_software(piece), expected) << start << " " << n;
      if (crc32c_has_hardware()) {
        ASSERT_EQ(crc32c_hardware(piece), expected) << start << " " << n;
      }
    }
  }
}

TEST(Crc32cTest, PiecesContinueEachOther) {
  Octets octets(21);
  for (size_t i = 0; i < octets.size(); ++i) octets[i] = static_cast<std::byte>(i);
  const std::span<const std::byte> all(octets);
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    const uint32_t first = crc32c(all.first(cut));
    EXPECT_EQ(crc32c(all.subspan(cut), first), crc32c(all));
    EXPECT_EQ(crc32c_software(all.subspan(cut), crc32c_software(all.first(cut))), crc32c(all));
  }
}

}  // namespace
}  // namespace uet
