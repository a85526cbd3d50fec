// When small sends wait for each other, and when not.
#include "prov/uet/post_habit.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace uet::prov {
namespace {

using namespace uet::literals;

class PostHabitTest : public ::testing::Test {
 protected:
  // One post, with more of its endpoint unfinished than can wait.
  bool post(uint64_t bytes = 64) {
    now_ = now_ + 1_us;
    return habit_.on_posted({bytes, 1000, true}, now_);
  }
  // So many posts a microsecond apart, then a look for completions after `delay`. Returns how many
  // of them waited.
  int run(int posts, Duration delay = 1_us, uint64_t bytes = 64) {
    int waited = 0;
    now_ = now_ + 1_ms;
    for (int i = 0; i < posts; ++i) waited += post(bytes);
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
  EXPECT_EQ(run(8), 5);  // the first two leave at once, and the last one takes the others along
}

TEST_F(PostHabitTest, ShortRunsDoNotMakeIt) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(run(7), 0);
}

TEST_F(PostHabitTest, ShortRunsDoNotEndIt) {
  run(8);
  run(8);
  EXPECT_EQ(run(3), 1);
  EXPECT_EQ(run(2), 0);
  EXPECT_EQ(run(8), 5);
}

// What a run is known to end with waits for nobody.
TEST_F(PostHabitTest, NothingWaitsAfterTheLastPostOfAUsualRun) {
  for (const int length : {8, 20, 34, 64, 100}) {
    run(length);
    run(length);
    now_ = now_ + 1_ms;
    for (int i = 0; i < length; ++i) post();
    EXPECT_FALSE(habit_.is_holding()) << length;
    post();
    EXPECT_TRUE(habit_.is_holding()) << length << ": a longer run than usual";
    habit_.on_polled(now_);
  }
}

TEST_F(PostHabitTest, OneLateLookEndsIt) {
  run(8);
  run(8);
  EXPECT_EQ(run(3, 21_us), 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(8), 0) << "one for the time, and two";
  EXPECT_EQ(run(3, 20_ms), 1);
  for (int i = 0; i < 302; ++i) EXPECT_EQ(run(8), 0) << "4.5 ms are worth 300 runs";
  EXPECT_EQ(run(8), 5);
}

TEST_F(PostHabitTest, ALateLookThatNothingWaitedForCostsNoMore) {
  run(8);
  run(8, 21_us);
  run(8);
  EXPECT_EQ(run(8), 0);
  EXPECT_EQ(run(8), 5);
}

// What the last post took along may keep the application for longer than a prompt look takes.
TEST_F(PostHabitTest, TheTimeThatSendingTakesIsNotTheApplications) {
  run(8);
  run(8);
  for (int i = 0; i < 5; ++i) {
    int waited = 0;
    for (int j = 0; j < 8; ++j) waited += post();
    EXPECT_EQ(waited, 5) << i;
    now_ = now_ + 40_us;
    habit_.on_left(now_);
    now_ = now_ + 1_us;
    habit_.on_polled(now_);
  }
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
    if (!habit_.on_posted({64, 1000, true}, now_)) together = 0;
    longest = std::max(longest, together);
  }
  EXPECT_EQ(longest, 31);  // and the one that takes them along
}

// A super-packet of the kernel holds 64 KiB.
TEST_F(PostHabitTest, NoMoreThanASuperPacketLeavesTogether) {
  run(16);
  run(16);
  EXPECT_EQ(run(14, 1_us, 4096), 11);  // 2, then 11 wait, the 12th takes them along
  EXPECT_EQ(run(10, 1_us, 65536), 0);
}

TEST_F(PostHabitTest, NobodyWaitsLongForTheNextPost) {
  run(16);
  run(16);
  now_ = now_ + 1_ms;
  EXPECT_FALSE(post());
  EXPECT_FALSE(post());
  EXPECT_TRUE(post());
  now_ = now_ + 19_us;
  EXPECT_TRUE(post());
  EXPECT_FALSE(post());
}

// What is in flight of the endpoint already, and nothing else, makes a post wait.
TEST_F(PostHabitTest, NothingWaitsBehindNothing) {
  run(16);
  run(16);
  now_ = now_ + 1_ms;
  post();
  post();
  EXPECT_FALSE(habit_.on_posted({64, 1, true}, now_)) << "the two were answered";
  EXPECT_TRUE(habit_.on_posted({64, 2, true}, now_));
  EXPECT_FALSE(habit_.on_posted({64, 2, true}, now_)) << "the other one waits itself";
}

TEST_F(PostHabitTest, NothingWaitsThatNobodyWouldSend) {
  run(16);
  run(16);
  now_ = now_ + 1_ms;
  for (int i = 0; i < 16; ++i) EXPECT_FALSE(habit_.on_posted({64, 1000, false}, now_)) << i;
}

TEST_F(PostHabitTest, TheHelperSendsAfterATenthOfAMillisecond) {
  run(16);
  run(16);
  EXPECT_TRUE(habit_.held_until().is_never());
  now_ = now_ + 1_ms;
  for (int i = 0; i < 3; ++i) post();
  EXPECT_EQ(habit_.held_until(), now_ + 100_us);
  post();
  EXPECT_EQ(habit_.held_until(), now_ + 99_us) << "the first one counts";
  now_ = now_ + 99_us;
  habit_.on_sent_late(now_);
  EXPECT_TRUE(habit_.held_until().is_never());
  habit_.on_polled(now_);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(run(16), 0) << "6 for the 100 us, and 2: " << i;
  EXPECT_EQ(run(16), 13);
}

// 300 runs of 8 save what one wait for the helper without a timer costs.
TEST_F(PostHabitTest, ManyEqualRunsNeedNoTimer) {
  for (int i = 0; i < 150; ++i) run(16);
  post();
  EXPECT_FALSE(habit_.is_trusted()) << "the first run was like none before";
  habit_.on_polled(now_);
  run(16);
  for (int i = 0; i < 15; ++i) {
    post();
    EXPECT_TRUE(habit_.is_trusted()) << i;
  }
  post();
  post();
  EXPECT_FALSE(habit_.is_trusted()) << "more than usual";
  habit_.on_polled(now_);
  run(17);
  post();
  EXPECT_FALSE(habit_.is_trusted()) << "another length";
}

TEST_F(PostHabitTest, OneWaitInVainEndsTrust) {
  for (int i = 0; i < 151; ++i) run(16);
  for (int i = 0; i < 3; ++i) post();
  EXPECT_TRUE(habit_.is_trusted());
  habit_.on_sent_late(now_ + 5_ms);
  EXPECT_FALSE(habit_.is_trusted());
}

}  // namespace
}  // namespace uet::prov
