// Tests of the sliding bitmap against pictures and a deque of bools.
#include "base/ring_bitmap.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>

namespace uet {
namespace {

class RingBitmapTest : public testing::Test {
 protected:
  Arena arena_;
  RingBitmap bits_;

  void set(std::initializer_list<uint32_t> offsets) {
    for (const uint32_t offset : offsets) bits_.set(offset);
  }
};

TEST_F(RingBitmapTest, RoundsTheSizeUpToAPowerOfTwoOfWholeWords) {
  EXPECT_EQ(bits_.create(arena_, 0).error(), Errc::invalid);
  EXPECT_EQ(bits_.create(arena_, RingBitmap::kBitsMax + 1).error(), Errc::invalid);
  ASSERT_TRUE(bits_.create(arena_, 1).ok());
  EXPECT_EQ(bits_.size(), 64u);
  RingBitmap large;
  ASSERT_TRUE(large.create(arena_, 1025).ok());
  EXPECT_EQ(large.size(), 2048u);
}

TEST_F(RingBitmapTest, WithoutBitsNothingIsFound) {
  EXPECT_EQ(bits_.size(), 0u);
  EXPECT_EQ(bits_.leading_ones(), 0u);
  EXPECT_EQ(bits_.highest_set(), -1);
  EXPECT_EQ(bits_.count(), 0u);
  EXPECT_EQ(bits_.extract64(0), 0u);
  bits_.advance(5);
}

// [PDS-074]
TEST_F(RingBitmapTest, AdvancingMovesTheBaseAndClearsLowerBits) {
  ASSERT_TRUE(bits_.create(arena_, 128).ok());
  set({0, 1, 3, 127});
  EXPECT_EQ(bits_.leading_ones(), 2u);
  bits_.advance(2);
  EXPECT_EQ(bits_.leading_ones(), 0u);
  EXPECT_TRUE(bits_.test(1));
  EXPECT_TRUE(bits_.test(125));
  EXPECT_EQ(bits_.count(), 2u);
  EXPECT_FALSE(bits_.test(126));  // the bits that came in
  EXPECT_FALSE(bits_.test(127));
  EXPECT_EQ(bits_.highest_set(), 125);
}

TEST_F(RingBitmapTest, AdvancingPastTheWindowForgetsEverything) {
  ASSERT_TRUE(bits_.create(arena_, 64).ok());
  set({0, 63});
  bits_.advance(1000);
  EXPECT_EQ(bits_.count(), 0u);
  EXPECT_EQ(bits_.highest_set(), -1);
  bits_.set(63);
  EXPECT_EQ(bits_.highest_set(), 63);
}

TEST_F(RingBitmapTest, AFullWindowIsARunOfOnes) {
  ASSERT_TRUE(bits_.create(arena_, 128).ok());
  bits_.advance(77);
  for (uint32_t i = 0; i < 128; ++i) bits_.set(i);
  EXPECT_EQ(bits_.leading_ones(), 128u);
  EXPECT_EQ(bits_.find_first_zero(), 128u);
  EXPECT_EQ(bits_.count(), 128u);
  bits_.clear(100);
  EXPECT_EQ(bits_.leading_ones(), 100u);
  bits_.advance(128);
  EXPECT_EQ(bits_.count(), 0u);
}

// [PDS-086]
TEST_F(RingBitmapTest, Extracts64BitsFromAnyOffsetWithZerosOutside) {
  ASSERT_TRUE(bits_.create(arena_, 128).ok());
  bits_.advance(60);  // so that the window wraps inside the words
  set({0, 1, 64, 127});
  EXPECT_EQ(bits_.extract64(0), 0x3u);
  EXPECT_EQ(bits_.extract64(1), 0x8000000000000001u);
  EXPECT_EQ(bits_.extract64(64), 0x8000000000000001u);
  EXPECT_EQ(bits_.extract64(65), uint64_t{1} << 62);
  EXPECT_EQ(bits_.extract64(127), 1u);
  EXPECT_EQ(bits_.extract64(128), 0u);
  EXPECT_EQ(bits_.extract64(-1), 0x6u);
  EXPECT_EQ(bits_.extract64(-63), uint64_t{1} << 63);
  EXPECT_EQ(bits_.extract64(-64), 0u);
}

TEST_F(RingBitmapTest, TheHighestBitIsFoundAfterHigherOnesWereCleared) {
  ASSERT_TRUE(bits_.create(arena_, 256).ok());
  set({3, 200, 201});
  bits_.clear(201);
  EXPECT_EQ(bits_.highest_set(), 200);
  bits_.clear(200);
  EXPECT_EQ(bits_.highest_set(), 3);
  EXPECT_EQ(bits_.find_first_set(4), 256u);
  bits_.clear(3);
  EXPECT_EQ(bits_.highest_set(), -1);
}

TEST_F(RingBitmapTest, TheHighestBitBelowAnEnd) {
  ASSERT_TRUE(bits_.create(arena_, 256).ok());
  bits_.advance(100);  // so that the words wrap
  set({3, 70, 200});
  EXPECT_EQ(bits_.highest_set(1000), 200);
  EXPECT_EQ(bits_.highest_set(200), 70);
  EXPECT_EQ(bits_.highest_set(71), 70);
  EXPECT_EQ(bits_.highest_set(70), 3);
  EXPECT_EQ(bits_.highest_set(3), -1);
  EXPECT_EQ(bits_.highest_set(0), -1);
}

TEST_F(RingBitmapTest, AttachingClearsTheWordsOfTheOwner) {
  std::array<uint64_t, 2> words = {~uint64_t{0}, ~uint64_t{0}};
  bits_.attach(words);
  EXPECT_EQ(bits_.size(), 128u);
  EXPECT_EQ(bits_.count(), 0u);
  bits_.attach({});
  EXPECT_EQ(bits_.size(), 0u);
}

void expect_equal(const RingBitmap& bits, const std::deque<bool>& model, uint32_t probe) {
  const auto size = static_cast<uint32_t>(model.size());
  ASSERT_EQ(bits.test(probe), model[probe]);
  const auto first = [&](uint32_t from, bool wanted) {
    while (from < size && model[from] != wanted) ++from;
    return from;
  };
  ASSERT_EQ(bits.leading_ones(), first(0, false));
  ASSERT_EQ(bits.find_first_zero(probe), first(probe, false));
  ASSERT_EQ(bits.find_first_set(probe), first(probe, true));
  ASSERT_EQ(bits.count(), std::count(model.begin(), model.end(), true));
  int32_t highest = static_cast<int32_t>(size) - 1;
  while (highest >= 0 && !model[static_cast<uint32_t>(highest)]) --highest;
  ASSERT_EQ(bits.highest_set(), highest);
  int32_t below = static_cast<int32_t>(probe) - 1;
  while (below >= 0 && !model[static_cast<uint32_t>(below)]) --below;
  ASSERT_EQ(bits.highest_set(probe), below);
  const int64_t offset = static_cast<int64_t>(probe) - 70;
  uint64_t expected = 0;
  for (int64_t i = 0; i < 64; ++i) {
    const int64_t at = offset + i;
    const bool is_set = at >= 0 && at < size && model[static_cast<size_t>(at)];
    expected |= uint64_t{is_set} << i;
  }
  ASSERT_EQ(bits.extract64(offset), expected);
}

TEST_F(RingBitmapTest, BehavesLikeADequeOfBoolsUnderRandomCalls) {
  for (const uint32_t size : {64u, 128u, 1024u}) {
    std::printf("seed %u\n", size);
    Rng rng(size);
    RingBitmap bits;
    ASSERT_TRUE(bits.create(arena_, size).ok());
    std::deque<bool> model(size);
    for (int step = 0; step < 2000; ++step) {
      const auto offset = static_cast<uint32_t>(rng.below(size));
      if (rng.chance(0.1)) {
        const auto n = static_cast<uint32_t>(rng.below(rng.chance(0.1) ? 2 * size : 80));
        bits.advance(n);
        for (uint32_t i = 0; i < n; ++i) {
          model.pop_front();
          model.push_back(false);
        }
      } else if (rng.chance(0.2)) {
        bits.clear(offset);
        model[offset] = false;
      } else {
        // Mostly near the base, as packets arrive, so that runs of ones form.
        const uint32_t at = rng.chance(0.8) ? offset % 70 : offset;
        bits.set(at);
        model[at] = true;
      }
      expect_equal(bits, model, static_cast<uint32_t>(rng.below(size)));
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace uet
