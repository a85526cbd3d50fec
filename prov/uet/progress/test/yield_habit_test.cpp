// When an application whose polls find nothing yields its processor.
#include "prov/uet/progress/yield_habit.h"

#include <gtest/gtest.h>

namespace uet::prov {
namespace {

using namespace uet::literals;

class YieldHabitTest : public ::testing::Test {
 protected:
  // Polls without a result until it yields, at most `most` times. Returns the number of polls.
  int looks_before_yield(int most, Duration apart = Duration::nanoseconds(100)) {
    for (int looks = 1; looks <= most; ++looks) {
      now_ = now_ + apart;
      if (habit_.on_nothing(now_)) return looks;
    }
    return most + 1;
  }
  void yield(Duration took) {
    habit_.on_yielded(now_, now_ + took);
    now_ = now_ + took;
  }

  Instant now_ = Instant::from_ns(1'000'000'000);
  YieldHabit habit_;
};

TEST_F(YieldHabitTest, YieldsAfterAHundredLooksWithoutAResult) {
  EXPECT_EQ(looks_before_yield(200), 100);
}

// Where a look costs nothing, a hundred of them take less time than any answer.
TEST_F(YieldHabitTest, PatienceIsTimeToo) {
  int looks = 1;
  while (!habit_.on_nothing(now_, 60_us)) {
    now_ = now_ + 100_ns;
    ASSERT_LE(++looks, 1000);
  }
  EXPECT_EQ(looks, 601);
}

TEST_F(YieldHabitTest, ACompletionRestartsTheHabit) {
  looks_before_yield(99);
  habit_.on_something();
  EXPECT_EQ(looks_before_yield(200), 100);
}

TEST_F(YieldHabitTest, IfOtherThreadsRanEachPollYields) {
  looks_before_yield(100);
  for (int i = 0; i < 5; ++i) {
    yield(3_us);
    EXPECT_EQ(looks_before_yield(10), 1);
  }
}

// A program that computes takes the processor for milliseconds, an answer comes sooner.
TEST_F(YieldHabitTest, AfterALongYieldItWaits300us) {
  looks_before_yield(100);
  yield(4_ms);
  EXPECT_EQ(looks_before_yield(5000), 3000);
}

TEST_F(YieldHabitTest, AfterALongYieldEachWaitForACompletionHas300us) {
  looks_before_yield(100);
  yield(4_ms);
  for (int completions = 0; completions < 5; ++completions) {
    EXPECT_EQ(looks_before_yield(2900), 2901);
    habit_.on_something();
  }
  EXPECT_EQ(looks_before_yield(5000), 3001);
}

TEST_F(YieldHabitTest, AShortYieldEndsThePatience) {
  looks_before_yield(100);
  yield(4_ms);
  looks_before_yield(5000);
  yield(20_us);
  EXPECT_EQ(looks_before_yield(10), 1);
}

TEST_F(YieldHabitTest, IfNoOtherThreadRanItYieldsAgainAfter50us) {
  looks_before_yield(100);
  yield(1_us);
  EXPECT_EQ(looks_before_yield(1000), 500);
}

// A thread that polls between two computations, and takes completions now and then, yields no more
// often.
TEST_F(YieldHabitTest, ACompletionDoesNotEndTheInterval) {
  looks_before_yield(100);
  yield(1_us);
  habit_.on_something();
  EXPECT_EQ(looks_before_yield(1000), 500);
}

// It yields by itself between its looks, or has something else to do.
TEST_F(YieldHabitTest, LooksThatAreApartDoNotYield) {
  EXPECT_EQ(looks_before_yield(1000, 8_us), 1001);
  EXPECT_EQ(looks_before_yield(200), 99);
}

}  // namespace
}  // namespace uet::prov
