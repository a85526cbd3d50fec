// When small sends wait for each other, and when not.
#include "prov/uet/progress/post_habit.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace uet::prov {
namespace {

using namespace uet::literals;

class PostHabitTest : public ::testing::Test {
 protected:
  // One post. The operations of the endpoint before this run are done.
  bool post(uint64_t bytes = 64) {
    now_ = now_ + 1_us;
    return habit_.on_posted({bytes, ++unfinished_, true}, now_) == Decision::post_waits;
  }
  void begin() {
    now_ = now_ + 1_ms;
    unfinished_ = 0;
  }
  // `posts` posts a microsecond apart, then a poll after `delay`. Returns how many posts waited.
  int run(int posts, Duration delay = 1_us, uint64_t bytes = 64) {
    int waited = 0;
    begin();
    for (int i = 0; i < posts; ++i) waited += post(bytes);
    now_ = now_ + delay;
    habit_.on_polled(now_);
    return waited;
  }

  // Runs of `posts`, until there have been 300 posts.
  void make_habit(int posts) {
    habit_ = PostHabit();
    for (int posted = 0; posted < 300; posted += posts) ASSERT_EQ(run(posts), 0) << posted;
  }

  Instant now_ = Instant::from_ns(1'000'000'000);
  uint32_t unfinished_ = 0;  // operations of the endpoint
  PostHabit habit_;
};

TEST_F(PostHabitTest, LongRunsMakeTheHabit) {
  make_habit(8);
  EXPECT_EQ(run(8), 5);  // the first two leave at once, and the last one sends the waiting ones
  for (int length = 20; length < 26; ++length) EXPECT_EQ(run(length), length - 3) << length;
}

TEST_F(PostHabitTest, ShortRunsDoNotMakeIt) {
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(run(7), 0);
}

TEST_F(PostHabitTest, ShortRunsDoNotEndIt) {
  make_habit(8);
  EXPECT_EQ(run(3), 1);
  EXPECT_EQ(run(2), 0);
  EXPECT_EQ(run(8), 5);
}

// The post that is known to end a run does not wait.
TEST_F(PostHabitTest, NothingWaitsAfterTheLastPostOfAUsualRun) {
  for (const int length : {8, 20, 34, 64, 100}) {
    make_habit(length);
    begin();
    for (int i = 0; i < length - 1; ++i) post();
    EXPECT_TRUE(habit_.is_holding()) << length;
    EXPECT_FALSE(post()) << length;
    EXPECT_FALSE(habit_.is_holding()) << length;
    EXPECT_TRUE(post()) << length << ": a longer run than usual";
    habit_.on_polled(now_);
  }
}

// A program with a window of messages posts one for each completion that it finds.
TEST_F(PostHabitTest, PollsThatFindACompletionDoNotEndARun) {
  for (int posted = 0; posted < 304; posted += 16) {
    begin();
    unfinished_ = 48;
    for (int i = 0; i < 16; ++i) {
      habit_.on_found();
      EXPECT_FALSE(post());
      EXPECT_EQ(habit_.in_a_row(), 1u);
    }
    habit_.on_polled(now_);
  }
  begin();
  unfinished_ = 48;
  for (int i = 0; i < 15; ++i) {
    habit_.on_found();
    EXPECT_TRUE(post()) << i << ": older ones are on their way";
  }
  habit_.on_polled(now_);
  EXPECT_FALSE(habit_.is_holding());
}

// Each post of a run saves 1.875 us: 15 us for a run of 8.
TEST_F(PostHabitTest, AWaitWithoutAResultIsADebt) {
  make_habit(8);
  EXPECT_EQ(run(3, 21_us), 1);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(8), 0) << i;
  EXPECT_EQ(run(3, 20_ms), 1);
  for (int i = 0; i < 300; ++i) EXPECT_EQ(run(8), 0) << "4.5 ms are worth 300 runs: " << i;
  EXPECT_EQ(run(8), 5);
}

TEST_F(PostHabitTest, PostsThatTheHelperSendsHaveWaitedWithoutAResult) {
  make_habit(8);
  begin();
  for (int i = 0; i < 3; ++i) post();
  ASSERT_TRUE(habit_.is_holding());
  now_ = now_ + 3_ms;
  habit_.on_sent_late(now_);
  EXPECT_FALSE(habit_.is_holding());
  habit_.on_polled(now_);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(run(8), 0) << i;
  EXPECT_EQ(run(8), 5);
}

TEST_F(PostHabitTest, ALateLookThatNothingWaitedForCostsNothing) {
  make_habit(8);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(run(8, 21_us), 5) << i;
  EXPECT_EQ(run(8), 5);
}

TEST_F(PostHabitTest, LateLooksDoNotMakeIt) {
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(run(8, 21_us), 0);
}

TEST_F(PostHabitTest, NoMoreThanSixtyFourLeaveTogether) {
  make_habit(300);
  begin();
  int longest = 0;
  int together = 0;
  for (int i = 0; i < 200; ++i) {
    ++together;
    const Decision decision = habit_.on_posted({64, ++unfinished_, true}, now_);
    if (decision != Decision::post_waits) together = 0;
    EXPECT_EQ(decision == Decision::post_full, together == 0 && i > 1) << i;
    longest = std::max(longest, together);
  }
  EXPECT_EQ(longest, 63);  // and the one that sends the waiting ones
}

// Two super-packets of the kernel hold 128 KiB.
TEST_F(PostHabitTest, NoMoreThanTwoSuperPacketsLeaveTogether) {
  make_habit(16);
  EXPECT_EQ(run(14, 1_us, 16384), 11);  // 2, then 8 wait, the 9th takes them along, 3 wait
  EXPECT_EQ(run(10, 1_us, 65536), 6);   // 2, then twice 2 wait for a third, and 2 for the look
  EXPECT_EQ(run(10, 1_us, 131073), 0);
}

TEST_F(PostHabitTest, APostDoesNotWaitLongForTheNextOne) {
  make_habit(16);
  begin();
  EXPECT_FALSE(post());
  EXPECT_FALSE(post());
  EXPECT_TRUE(post());
  now_ = now_ + 19_us;
  EXPECT_FALSE(habit_.is_overdue(now_ + 1_us));
  EXPECT_TRUE(habit_.is_overdue(now_ + 2_us));
  EXPECT_TRUE(post());
  EXPECT_FALSE(post());
  EXPECT_FALSE(habit_.is_overdue(now_ + 1_s)) << "nothing waits";
}

// Only operations of the endpoint already in flight make a post wait.
TEST_F(PostHabitTest, NothingWaitsBehindNothing) {
  make_habit(16);
  begin();
  post();
  post();
  EXPECT_EQ(habit_.on_posted({64, 1, true}, now_), Decision::post_alone) << "two were answered";
  EXPECT_EQ(habit_.on_posted({64, 2, true}, now_), Decision::post_waits);
  EXPECT_EQ(habit_.on_posted({64, 2, true}, now_), Decision::post_alone) << "the other one waits";
}

TEST_F(PostHabitTest, PostsDoNotWaitIfNoThreadWouldSendThem) {
  make_habit(16);
  begin();
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(habit_.on_posted({64, 1000, false}, now_), Decision::post_unserved) << i;
  }
}

}  // namespace
}  // namespace uet::prov
