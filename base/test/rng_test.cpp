// Tests of the random generator against the published PCG64 and its own promises.
#include "base/rng.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>

namespace uet {
namespace {

// The first outputs of PCG's own demonstration program for the 128-bit XSL-RR generator, seeded
// with (42, 54); checked with a separate big-integer computation of the recurrence.
TEST(RngTest, MatchesTheReferenceSequence) {
  Rng rng(42, 54);
  for (const uint64_t expected : {0x86b1da1d72062b68u, 0x1304aa46c9853d39u, 0xa3670e9e0dd50358u,
                                  0xf9090e529a7dae00u, 0xc85b9fd837996f2cu, 0x606121f8e3919196u}) {
    EXPECT_EQ(rng.u64(), expected);
  }
}

// Expected values from a big-integer computation outside this code base.
TEST(RngTest, MatchesTheRecurrenceAtTheEndsOfSeedAndStream) {
  Rng low(1);
  EXPECT_EQ(low.u64(), 0x71564ba1920863f1u);
  EXPECT_EQ(low.u64(), 0x6f710dff5126dafu);
  Rng high(UINT64_MAX, UINT64_MAX);
  EXPECT_EQ(high.u64(), 0xd647663e811bba63u);
  EXPECT_EQ(high.u64(), 0x47d514fa3f5712ebu);
}

TEST(RngTest, U32IsTheUpperHalf) {
  Rng rng(42, 54);
  EXPECT_EQ(rng.u32(), 0x86b1da1du);
  EXPECT_EQ(rng.u32(), 0x1304aa46u);
}

TEST(RngTest, BelowScalesTheDrawnNumber) {
  // floor(draw * n / 2^64) of the reference sequence, computed by hand: the draws begin 0x86b1...,
  // 0x1304..., so times 16 gives their first hexadecimal digits.
  Rng rng(42, 54);
  for (const uint64_t digit : {0x8u, 0x1u, 0xau, 0xfu, 0xcu, 0x6u}) EXPECT_EQ(rng.below(16), digit);
  EXPECT_EQ(rng.below(1), 0u);
}

// [PDS-044]
TEST(RngTest, BelowIsUniformWhenTheRangeDoesNotDivideThePowerOfTwo) {
  // With n = 3 * 2^62 a generator that does not redraw gives each third number twice as often:
  // 1/2 of all draws then fall on results that are 0 modulo 3, instead of 1/3.
  std::printf("seed 7\n");
  Rng rng(7);
  constexpr uint64_t kRange = uint64_t{3} << 62;
  constexpr int kDraws = 30000;
  int multiples = 0;
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t drawn = rng.below(kRange);
    ASSERT_LT(drawn, kRange);
    multiples += drawn % 3 == 0;
  }
  EXPECT_NEAR(multiples, kDraws / 3, 500);  // six standard deviations
}

TEST(RngTest, ChanceDrawsOnceForAnyProbability) {
  Rng reference(3);
  (void)reference.u64();
  const uint64_t second = reference.u64();
  for (const double p : {-1.0, 0.0, 0.25, 1.0, 2.0, std::nan("")}) {
    Rng rng(3);
    (void)rng.chance(p);
    EXPECT_EQ(rng.u64(), second) << p;
  }
}

TEST(RngTest, ChanceComparesTheDrawnNumberWithTheScaledProbability) {
  // 0x86b1.../2^64 is between 0.526 and 0.527; 0x1304.../2^64 between 0.0742 and 0.0744.
  Rng rng(42, 54);
  EXPECT_TRUE(Rng(42, 54).chance(0.527));
  EXPECT_FALSE(rng.chance(0.526));
  EXPECT_TRUE(Rng(rng).chance(0.0744));
  EXPECT_FALSE(rng.chance(0.0742));
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(rng.chance(0.0));
    EXPECT_FALSE(rng.chance(std::nan("")));
    EXPECT_TRUE(rng.chance(1.0));
  }
}

TEST(RngTest, SplitGivesADifferentSequenceAndDependsOnlyOnTheParent) {
  Rng parent(11);
  Rng twin(11);
  Rng child = parent.split();
  Rng twin_child = twin.split();
  Rng second_child = parent.split();
  for (int i = 0; i < 16; ++i) {
    const uint64_t drawn = child.u64();
    EXPECT_EQ(drawn, twin_child.u64());
    EXPECT_NE(drawn, parent.u64());
    EXPECT_NE(drawn, second_child.u64());
  }
}

TEST(RngTest, StreamsOfOneSeedDiffer) {
  Rng a(5, 0);
  Rng b(5, 1);
  for (int i = 0; i < 16; ++i) EXPECT_NE(a.u64(), b.u64());
}

}  // namespace
}  // namespace uet
