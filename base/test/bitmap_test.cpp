// Tests of the fixed bitmap.
#include "base/bitmap.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace uet {
namespace {

TEST(BitmapTest, SetsClearsAndTestsSingleBits) {
  Arena arena;
  Bitmap bitmap;
  ASSERT_TRUE(bitmap.create(arena, 130).ok());
  for (const uint32_t bit : {0u, 63u, 64u, 129u}) {
    EXPECT_FALSE(bitmap.test(bit));
    bitmap.set(bit);
    EXPECT_TRUE(bitmap.test(bit));
  }
  EXPECT_EQ(bitmap.count(), 4u);
  bitmap.clear(63);
  EXPECT_FALSE(bitmap.test(63));
  EXPECT_EQ(bitmap.count(), 3u);
  bitmap.clear_all();
  EXPECT_EQ(bitmap.count(), 0u);
}

TEST(BitmapTest, FindsBitsAcrossWordsAndStopsAtTheSize) {
  Arena arena;
  Bitmap bitmap;
  ASSERT_TRUE(bitmap.create(arena, 70).ok());
  EXPECT_EQ(bitmap.find_first_set(), 70u);
  for (uint32_t i = 0; i < 66; ++i) bitmap.set(i);
  EXPECT_EQ(bitmap.leading_ones(), 66u);
  EXPECT_EQ(bitmap.find_first_zero(10), 66u);
  EXPECT_EQ(bitmap.find_first_zero(67), 67u);
  for (uint32_t i = 66; i < 70; ++i) bitmap.set(i);
  EXPECT_EQ(bitmap.find_first_zero(), 70u);
  EXPECT_EQ(bitmap.find_first_zero(70), 70u);
  EXPECT_EQ(bitmap.find_first_zero(1000), 70u);
  EXPECT_EQ(bitmap.leading_ones(), 70u);
}

TEST(BitmapTest, WithoutBitsNothingIsFound) {
  const Bitmap bitmap;
  EXPECT_EQ(bitmap.size(), 0u);
  EXPECT_EQ(bitmap.find_first_zero(), 0u);
  EXPECT_EQ(bitmap.find_first_set(), 0u);
  EXPECT_EQ(bitmap.count(), 0u);
}

TEST(BitmapTest, AttachingClearsTheWordsOfTheOwner) {
  std::array<uint64_t, 2> words = {~uint64_t{0}, ~uint64_t{0}};
  Bitmap bitmap;
  bitmap.attach(words, 65);
  EXPECT_EQ(bitmap.count(), 0u);
  bitmap.set(64);
  EXPECT_EQ(words[1], 1u);
}

TEST(BitmapTest, FindsTheSameBitsAsAVectorOfBool) {
  std::printf("seed 21\n");
  Rng rng(21);
  for (uint32_t bits : {1u, 63u, 64u, 65u, 200u}) {
    Arena arena;
    Bitmap bitmap;
    ASSERT_TRUE(bitmap.create(arena, bits).ok());
    std::vector<bool> model(bits);
    for (int step = 0; step < 300; ++step) {
      const auto bit = static_cast<uint32_t>(rng.below(bits));
      model[bit] = rng.chance(step < 150 ? 0.9 : 0.1);
      model[bit] ? bitmap.set(bit) : bitmap.clear(bit);
      const auto from = static_cast<uint32_t>(rng.below(bits + 1));
      uint32_t zero = from;
      while (zero < bits && model[zero]) ++zero;
      uint32_t one = from;
      while (one < bits && !model[one]) ++one;
      ASSERT_EQ(bitmap.find_first_zero(from), zero);
      ASSERT_EQ(bitmap.find_first_set(from), one);
    }
  }
}

}  // namespace
}  // namespace uet
