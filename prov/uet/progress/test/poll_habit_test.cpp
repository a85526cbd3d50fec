// When a thread polls before it sleeps for a completion, and when not.
#include "prov/uet/progress/poll_habit.h"

#include <gtest/gtest.h>

namespace uet::prov {
namespace {

using namespace uet::literals;

class PollHabitTest : public ::testing::Test {
 protected:
  bool polls() const { return habit_.patience() > Duration::zero(); }
  void wait(Duration took, int times = 1) {
    for (int i = 0; i < times; ++i) habit_.on_answered(took);
  }
  void end_habit() {
    wait(1_ms, 16);
    ASSERT_FALSE(polls());
  }

  PollHabit habit_;
};

TEST_F(PollHabitTest, AnExchangeOfSmallMessagesPolls) {
  EXPECT_TRUE(polls());
  wait(5_us, 1000);
  EXPECT_TRUE(polls());
}

TEST_F(PollHabitTest, OneLongWaitAmongManyShortOnesEndsNothing) {
  for (int i = 0; i < 100; ++i) {
    wait(1_ms);
    wait(5_us, 8);
    EXPECT_TRUE(polls()) << i;
  }
}

// A stream at a fixed rate: messages come in bursts with a pause after each.
TEST_F(PollHabitTest, ALongWaitAfterEverySixShortOnesEndsIt) {
  for (int i = 0; i < 8; ++i) {
    wait(20_us, 6);
    wait(700_us);
  }
  EXPECT_FALSE(polls());
  for (int i = 0; i < 100; ++i) {
    wait(20_us, 6);
    wait(700_us);
    ASSERT_FALSE(polls()) << i;
  }
}

TEST_F(PollHabitTest, LongWaitsEndIt) {
  wait(5_us, 100);
  wait(1_ms, 1);
  EXPECT_TRUE(polls());
  wait(1_ms, 1);
  EXPECT_FALSE(polls());
}

TEST_F(PollHabitTest, TimeThatIsUpAfterALongWaitEndsIt) {
  for (int i = 0; i < 2; ++i) habit_.on_time_up(1_ms);
  EXPECT_FALSE(polls());
}

// A program that asks with a time-out of 0 between long waits.
TEST_F(PollHabitTest, TimeThatIsUpAtOnceShowsNothing) {
  end_habit();
  for (int i = 0; i < 100; ++i) habit_.on_time_up(Duration::zero());
  EXPECT_FALSE(polls());
}

// Both ends sleep, so each wait includes two wake-ups.
TEST_F(PollHabitTest, SixteenExchangesBetweenSleepersBringItBack) {
  end_habit();
  wait(75_us, 15);
  EXPECT_FALSE(polls());
  wait(75_us);
  EXPECT_TRUE(polls());
}

TEST_F(PollHabitTest, ALongWaitBetweenThemBeginsTheCountAnew) {
  end_habit();
  wait(75_us, 15);
  wait(1_ms);
  wait(75_us, 15);
  EXPECT_FALSE(polls());
}

}  // namespace
}  // namespace uet::prov
