// The trailer of CRC-32C. The sum is tested in base.
#include "wire/crc.h"

#include "wire/test/octets_of.h"

#include <gtest/gtest.h>

namespace uet::wire {
namespace {

using test::emitted;
using test::hex_of;
using test::Octets;
using test::octets_of;

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

}  // namespace
}  // namespace uet::wire
