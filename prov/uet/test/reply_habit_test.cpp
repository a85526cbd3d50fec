// When acknowledgements wait for the application's reply, and when not.
#include "prov/uet/reply_habit.h"

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
  EXPECT_TRUE(exchange(20_us));
}

TEST_F(ReplyHabitTest, OneSlowReplyEndsIt) {
  for (int i = 0; i < 5; ++i) exchange(5_us);
  EXPECT_TRUE(exchange(21_us));
  EXPECT_FALSE(exchange(5_us));
}

TEST_F(ReplyHabitTest, LookingForMoreWithoutAReplyEndsIt) {
  for (int i = 0; i < 5; ++i) exchange(5_us);
  EXPECT_TRUE(habit_.on_delivered(now_));
  habit_.on_polled();
  EXPECT_FALSE(habit_.is_waiting());
  EXPECT_FALSE(exchange(5_us));
}

// Its own send and the peer's message were completed together: the application waits for both.
TEST_F(ReplyHabitTest, OneLookAtWhatIsThereDoesNotEndIt) {
  for (int i = 0; i < 3; ++i) exchange(5_us);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(habit_.on_delivered(now_));
    EXPECT_TRUE(habit_.on_glance());
    EXPECT_TRUE(habit_.is_waiting());
    EXPECT_FALSE(habit_.on_glance()) << "the next one makes progress";
    habit_.on_posted(now_ + 5_us);
  }
  EXPECT_FALSE(habit_.on_glance()) << "nothing awaits a reply";
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
