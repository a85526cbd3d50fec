// CRC-32C: check values, both forms against a bit-by-bit one, and the trailer.
#include "wire/crc.h"

#include "wire/test/octets_of.h"

#include <gtest/gtest.h>

#include <cinttypes>
#include <random>

namespace uet::wire {
namespace {

using test::emitted;
using test::hex_of;
using test::Octets;
using test::octets_of;

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
TEST(CrcTest, CheckValuesOfTheAlgorithmComeOut) {
  const Octets digits = octets_of("313233343536373839");
  EXPECT_EQ(crc32c(digits), 0xE3069283U);
  EXPECT_EQ(crc32c_software(digits), 0xE3069283U);
  EXPECT_EQ(crc32c(Octets(32, std::byte{0})), 0x8A9136AAU);
  EXPECT_EQ(crc32c(Octets(32, std::byte{0xFF})), 0x62A8AB43U);
  EXPECT_EQ(crc32c({}), 0U);
}

// [WIRE-091, WIRE-093, WIRE-114, WIRE-115] The example of the wire reference.
TEST(CrcTest, TrailerOfTheExamplePacketIsOnTheWireLeastSignificantOctetFirst) {
  const Octets covered = octets_of(
      "c0a80101 c0a80102 beef0000 30800000 07030004 00000001 00050007 0000000000000000 deadbeef");
  EXPECT_EQ(crc32c(covered), 0x264664D5U);
  EXPECT_EQ(hex_of(emitted(CrcTrailer{0x264664D5})), "d5644626");
  const Octets trailer = octets_of("d5644626");
  Reader r(trailer);
  EXPECT_EQ(*CrcTrailer::parse(r), CrcTrailer{0x264664D5});
  Reader cut(std::span<const std::byte>(trailer).first(3));
  EXPECT_EQ(CrcTrailer::parse(cut).error(), ParseError::truncated);
}

TEST(CrcTest, BothFormsAgreeWithTheDefinitionAtEveryLengthAndAlignment) {
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

TEST(CrcTest, PiecesContinueEachOther) {
  const Octets octets = octets_of("000102030405060708090a0b0c0d0e0f1011121314");
  const std::span<const std::byte> all(octets);
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    const uint32_t first = crc32c(all.first(cut));
    EXPECT_EQ(crc32c(all.subspan(cut), first), crc32c(all));
    EXPECT_EQ(crc32c_software(all.subspan(cut), crc32c_software(all.first(cut))), crc32c(all));
  }
}

}  // namespace
}  // namespace uet::wire
