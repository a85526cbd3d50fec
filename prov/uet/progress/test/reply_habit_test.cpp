// When acknowledgements wait for the application's reply, and when not.
#include "prov/uet/progress/reply_habit.h"

#include <gtest/gtest.h>

namespace uet::prov {
namespace {

using namespace uet::literals;

class ReplyHabitTest : public ::testing::Test {
 protected:
  // One message, answered after `delay`; returns whether its acknowledgement waited.
  bool exchange(Duration delay) {
    now_ = now_ + 1_ms;
    const bool waited = habit_.on_delivered(now_);
    EXPECT_EQ(habit_.is_waiting(), waited);
    now_ = now_ + delay;
    habit_.on_posted(now_);
    EXPECT_FALSE(habit_.is_waiting());
    return waited;
  }

  Instant now_ = Instant::from_ns(1'000'000'000);
  ReplyHabit habit_;
};

TEST_F(ReplyHabitTest, ThreeQuickRepliesMakeTheHabit) {
  EXPECT_FALSE(exchange(5_us));
  EXPECT_FALSE(exchange(5_us));
  EXPECT_FALSE(exchange(5_us));
  EXPECT_TRUE(exchange(5_us));
  EXPECT_TRUE(exchange(50_us));
}

TEST_F(ReplyHabitTest, OneSlowReplyEndsIt) {
  for (int i = 0; i < 5; ++i) exchange(5_us);
  EXPECT_TRUE(exchange(51_us));
  EXPECT_FALSE(exchange(5_us));
}

TEST_F(ReplyHabitTest, LookingForMoreWithoutAReplyEndsIt) {
  for (int i = 0; i < 5; ++i) exchange(5_us);
  EXPECT_TRUE(habit_.on_delivered(now_));
  habit_.on_polled(now_);
  EXPECT_FALSE(habit_.is_waiting());
  EXPECT_FALSE(exchange(5_us));
}

// Its send and the peer's message were completed together, and the application polls for both, each
// time until nothing is left.
TEST_F(ReplyHabitTest, OneVainLookAfterEachCompletionDoesNotEndIt) {
  for (int i = 0; i < 3; ++i) exchange(5_us);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(habit_.on_delivered(now_));
    EXPECT_TRUE(habit_.on_glance());
    habit_.on_found();
    EXPECT_TRUE(habit_.on_glance());
    EXPECT_TRUE(habit_.is_waiting());
    EXPECT_FALSE(habit_.on_glance()) << "it only looks";
    habit_.on_posted(now_ + 5_us);
  }
  EXPECT_FALSE(habit_.on_glance()) << "nothing awaits a reply";
}

// A reply saves 10 us, one that does not come costs the 4.5 ms until the helper comes by, 450 times
// as much. Runs that are shorter are not worth the wait; a longer one pays for those before.
TEST_F(ReplyHabitTest, ShortRunsTeachToSendAtOnce) {
  const auto run = [&](int replies) {
    int waited = 0;
    for (int i = 0; i < replies; ++i) waited += exchange(5_us);
    habit_.on_delivered(now_);
    now_ = now_ + 20_ms;
    habit_.on_polled(now_);
    return waited;
  };
  EXPECT_EQ(run(10), 7) << "100 + 10 - 450 = -340";
  for (int i = 0; i < 4; ++i) EXPECT_EQ(run(10), 0) << "-90 each, for nothing waits: at last -700";
  EXPECT_EQ(run(1000), 299) << "-700 + 1000 - 450 = -150";
  EXPECT_EQ(run(1000), 849) << "-150 + 1000 - 450 = 400";
  EXPECT_EQ(run(60), 57) << "400 + 60 - 450 = 10";
  EXPECT_EQ(run(10), 7);
}

// A poll that follows at once, with its acknowledgement, costs nothing but the run.
TEST_F(ReplyHabitTest, APromptLookIsCheap) {
  for (int i = 0; i < 3; ++i) exchange(5_us);
  for (int i = 0; i < 1000; ++i) {
    habit_.on_delivered(now_);
    habit_.on_polled(now_ + 2_us);
    for (int k = 0; k < 3; ++k) EXPECT_FALSE(exchange(5_us));
    EXPECT_TRUE(exchange(5_us)) << i;
  }
}

TEST_F(ReplyHabitTest, TwoMessagesWithoutAReplyBetweenEndIt) {
  for (int i = 0; i < 5; ++i) exchange(5_us);
  EXPECT_TRUE(habit_.on_delivered(now_));
  EXPECT_FALSE(habit_.on_delivered(now_));
}

TEST_F(ReplyHabitTest, PostsThatAnswerNothingTeachNothing) {
  for (int i = 0; i < 10; ++i) habit_.on_posted(now_);
  EXPECT_FALSE(habit_.on_delivered(now_));
}

}  // namespace
}  // namespace uet::prov
