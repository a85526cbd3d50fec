// Tests of arrays whose memory comes where values are set.
#include "base/sparse_array.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <vector>

namespace uet {
namespace {

TEST(SparseArrayTest, IsZeroEverywhereAndTakesNoMemory) {
  Arena arena;
  SparseArray<uint32_t> array;
  EXPECT_EQ(array[0], 0u);  // before create
  array.create(arena, 1000);
  EXPECT_EQ(array.size(), 1000u);
  for (uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(array[i], 0u);
  EXPECT_EQ(array[1000], 0u);
  EXPECT_EQ(array[UINT32_MAX], 0u);
  EXPECT_EQ(arena.used_bytes(), 0u);
}

TEST(SparseArrayTest, APageIsTakenOnceAndNeighboursStayZero) {
  Arena arena;
  SparseArray<uint32_t> array;
  array.create(arena, 1000);
  ASSERT_TRUE(array.reserve(130));
  array.set(130, 7);
  const size_t used = arena.used_bytes();
  ASSERT_TRUE(array.reserve(128));
  array.set(128, 9);
  EXPECT_EQ(arena.used_bytes(), used);
  EXPECT_EQ(array[130], 7u);
  EXPECT_EQ(array[128], 9u);
  EXPECT_EQ(array[129], 0u);
  EXPECT_EQ(array[127], 0u);
  ASSERT_TRUE(array.reserve(999));
  EXPECT_GT(arena.used_bytes(), used);
}

TEST(SparseArrayTest, HoldsWhatAnArrayHolds) {
  Arena arena;
  SparseArray<uint16_t, 16> array;
  constexpr uint32_t kSize = 500;
  array.create(arena, kSize);
  std::vector<uint16_t> model(kSize);
  Rng rng(3);
  for (int i = 0; i < 2000; ++i) {
    const auto at = static_cast<uint32_t>(rng.below(kSize));
    model[at] = static_cast<uint16_t>(rng.u32());
    ASSERT_TRUE(array.reserve(at));
    array.set(at, model[at]);
    const auto look = static_cast<uint32_t>(rng.below(kSize));
    ASSERT_EQ(array[look], model[look]);
  }
}

TEST(SparseArrayDeathTest, AValueWithoutMemoryCannotBeSet) {
  Arena arena;
  SparseArray<uint32_t> array;
  array.create(arena, 1000);
  ASSERT_TRUE(array.reserve(0));
  EXPECT_DEATH(array.set(500, 1), "kZeros");
  EXPECT_DEATH((void)array.reserve(1000), "size_");
}

}  // namespace
}  // namespace uet
