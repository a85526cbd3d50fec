// When small sends wait for each other, and when not.
#include "prov/uet/post_habit.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace uet::prov {
namespace {

using namespace uet::literals;

class PostHabitTest : public ::testing::Test {
 protected:
  // So many posts a microsecond apart, then a look for completions after `delay`. Returns how many
  // of them waited.
  int run(int posts, Duration delay = 1_us, uint64_t bytes = 64) {
    int waited = 0;
    now_ = now_ + 1_ms;
    for (int i = 0; i < posts; ++i) {
      now_ = now_ + 1_us;
      waited += habit_.on_posted(bytes, now_);
    }
    now_ = now_ + delay;
    habit_.on_polled(now_);
    return waited;
  }

  Instant now_ = Instant::from_ns(1'000'000'000);
  PostHabit habit_;
};

TEST_F(PostHabitTest, TwoLongRunsMakeTheHabit) {
  EXPECT_EQ(run(8), 0);
  EXPECT_EQ(run(8), 0);
  EXPECT_EQ(run(8), 6);  // the first two leave at once
}

TEST_F(PostHabitTest, ShortRunsDoNotMakeIt) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(run(7), 0);
}

TEST_F(PostHabitTest, ShortRunsDoNotEndIt) {
  run(8);
  run(8);
  EXPECT_EQ(run(3), 1);
  EXPECT_EQ(run(2), 0);
  EXPECT_EQ(run(8), 6);
}

TEST_F(PostHabitTest, OneLateLookEndsIt) {
  run(8);
  run(8);
  EXPECT_EQ(run(3, 21_us), 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(8), 0) << "one for the time, and two";
  EXPECT_EQ(run(3, 20_ms), 1);
  for (int i = 0; i < 302; ++i) EXPECT_EQ(run(8), 0) << "4.5 ms are worth 300 runs";
  EXPECT_EQ(run(8), 6);
}

TEST_F(PostHabitTest, ALateLookThatNothingWaitedForCostsNoMore) {
  run(8);
  run(8, 21_us);
  run(8);
  EXPECT_EQ(run(8), 0);
  EXPECT_EQ(run(8), 6);
}

TEST_F(PostHabitTest, LateLooksDoNotMakeIt) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(run(8, 21_us), 0);
}

TEST_F(PostHabitTest, NoMoreThanThirtyTwoLeaveTogether) {
  run(8);
  run(8);
  now_ = now_ + 1_ms;
  int longest = 0;
  int together = 0;
  for (int i = 0; i < 200; ++i) {
    ++together;
    if (!habit_.on_posted(64, now_)) together = 0;
    longest = std::max(longest, together);
  }
  EXPECT_EQ(longest, 31);  // and the one that takes them along
}

// A super-packet of the kernel holds 64 KiB.
TEST_F(PostHabitTest, NoMoreThanASuperPacketLeavesTogether) {
  run(8);
  run(8);
  EXPECT_EQ(run(14, 1_us, 4096), 11);  // 2, then 11 wait, the 12th takes them along
  EXPECT_EQ(run(10, 1_us, 65536), 0);
}

TEST_F(PostHabitTest, NobodyWaitsLong) {
  run(8);
  run(8);
  now_ = now_ + 1_ms;
  EXPECT_FALSE(habit_.on_posted(64, now_));
  EXPECT_FALSE(habit_.on_posted(64, now_));
  EXPECT_TRUE(habit_.on_posted(64, now_));
  EXPECT_TRUE(habit_.on_posted(64, now_ + 20_us));
  EXPECT_FALSE(habit_.on_posted(64, now_ + 21_us));
}

}  // namespace
}  // namespace uet::prov
