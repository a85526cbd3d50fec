// Tests of wrapping sequence numbers and identifiers.
#include "base/serial.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace uet {
namespace {

using Short = Serial<struct ShortTag, uint16_t>;

// [PDS-030, WIRE-103] PSNs compare by the sign of their 32-bit difference.
TEST(SerialTest, ComparesAcrossTheWrap) {
  EXPECT_EQ(Psn(5) - Psn(3), 2);
  EXPECT_EQ(Psn(3) - Psn(5), -2);
  EXPECT_EQ(Psn(1) - Psn(0xffffffff), 2);
  EXPECT_TRUE(Psn(1).after(Psn(0xffffffff)));
  EXPECT_FALSE(Psn(1).before(Psn(0xffffffff)));
  EXPECT_TRUE(Psn(0xffffffff).before(Psn(1)));
  EXPECT_FALSE(Psn(7).after(Psn(7)));
  EXPECT_FALSE(Psn(7).before(Psn(7)));
  EXPECT_EQ(Psn(7), Psn(7));
}

// [PDS-030] Up to half the space away is after; the far half is before.
TEST(SerialTest, HalfTheSpaceIsTheLimitOfAfter) {
  EXPECT_TRUE(Psn(0x7fffffff).after(Psn(0)));
  EXPECT_FALSE(Psn(0x80000000).after(Psn(0)));
  EXPECT_TRUE(Psn(0x80000001).before(Psn(0)));
}

// [PDS-030]
TEST(SerialTest, AddsAndSubtractsWithWrap) {
  EXPECT_EQ(Psn(0xfffffffe) + 3, Psn(1));
  EXPECT_EQ(Psn(1) - int64_t{3}, Psn(0xfffffffe));
  EXPECT_EQ(Psn(1) + -3, Psn(0xfffffffe));
  Psn psn(0xffffffff);
  EXPECT_EQ(++psn, Psn(0));
  EXPECT_EQ(psn.value(), 0u);
}

TEST(SerialTest, NarrowSerialsWrapAtTheirOwnWidth) {
  EXPECT_EQ(Short(0xffff) + 2, Short(1));
  EXPECT_EQ(Short(1) - Short(0xffff), 2);
  EXPECT_TRUE(Short(0x7fff).after(Short(0)));
  EXPECT_FALSE(Short(0x8000).after(Short(0)));
}

TEST(SerialTest, IdentifiersCompareAndDoNotConvert) {
  EXPECT_EQ(Pdcid().value(), 0);
  EXPECT_LT(Pdcid(3), Pdcid(4));
  EXPECT_EQ(JobId(9), JobId(9));
  static_assert(!std::is_convertible_v<uint16_t, Pdcid>);
  static_assert(!std::is_convertible_v<Pdcid, uint16_t>);
  static_assert(!std::is_constructible_v<Pdcid, MessageId>);
  static_assert(!std::is_constructible_v<Psn, PktId>);
}

}  // namespace
}  // namespace uet
