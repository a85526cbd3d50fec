// Tests of the index-addressed ring.
#include "base/ring.h"

#include <gtest/gtest.h>

#include <array>

namespace uet {
namespace {

class RingTest : public testing::Test {
 protected:
  Arena arena_;
  Ring<int> ring_;
};

TEST_F(RingTest, IsEmptyAndFullBeforeItHasMemory) {
  EXPECT_TRUE(ring_.empty());
  EXPECT_TRUE(ring_.full());
  EXPECT_FALSE(ring_.contains(0));
}

TEST_F(RingTest, RoundsTheCapacityUpToAPowerOfTwo) {
  ASSERT_TRUE(ring_.create(arena_, 5).ok());
  EXPECT_EQ(ring_.capacity(), 8u);
  Ring<int> other;
  ASSERT_TRUE(other.create(arena_, 8).ok());
  EXPECT_EQ(other.capacity(), 8u);
  EXPECT_EQ(other.create(arena_, 0).error(), Errc::invalid);
  EXPECT_EQ(other.create(arena_, (1u << 31) + 1).error(), Errc::invalid);
  EXPECT_EQ(other.capacity(), 8u);
}

TEST_F(RingTest, IndicesGrowAndWrapWithTheirType) {
  ASSERT_TRUE(ring_.create(arena_, 4, 0xfffffffe).ok());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(ring_.push(i), 0xfffffffe + static_cast<uint32_t>(i));
  EXPECT_TRUE(ring_.full());
  EXPECT_EQ(ring_[0xffffffff], 1);
  EXPECT_EQ(ring_[0], 2);
  EXPECT_EQ(ring_.front(), 0);
  EXPECT_EQ(ring_.back(), 3);

  EXPECT_EQ(ring_.pop_front(), 0);
  EXPECT_FALSE(ring_.contains(0xfffffffe));
  EXPECT_TRUE(ring_.contains(0xffffffff));
  EXPECT_TRUE(ring_.contains(1));
  EXPECT_FALSE(ring_.contains(2));
  EXPECT_EQ(ring_.push(4), 2u);
  EXPECT_TRUE(ring_.contains(2));
  EXPECT_FALSE(ring_.contains(3));
  for (int i = 1; i <= 4; ++i) EXPECT_EQ(ring_.pop_front(), i);
  EXPECT_TRUE(ring_.empty());
  EXPECT_EQ(ring_.size(), 0u);
}

TEST_F(RingTest, UsesMemoryFromItsOwner) {
  std::array<int, 2> memory{};
  ring_.attach(memory, 10);
  EXPECT_EQ(ring_.push(7), 10u);
  EXPECT_EQ(memory[0], 7);
  ring_.clear(3);
  EXPECT_EQ(ring_.push(8), 3u);
  EXPECT_EQ(memory[1], 8);
  ring_.attach({});
  EXPECT_EQ(ring_.capacity(), 0u);
}

using RingDeathTest = RingTest;
TEST_F(RingDeathTest, AssertsOnOverflowUnderflowAndStaleIndices) {
  ASSERT_TRUE(ring_.create(arena_, 1).ok());
  EXPECT_DEATH((void)ring_.pop_front(), "empty");
  ring_.push(1);
  EXPECT_DEATH(ring_.push(2), "full");
  EXPECT_DEATH((void)ring_[1], "contains");
}

}  // namespace
}  // namespace uet
