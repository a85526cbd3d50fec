// Simulated time: which actor runs when, and in which order.
#include "sim/world/clock.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace uet::sim {
namespace {

Instant at(int64_t ns) { return Instant::from_ns(ns); }

std::vector<uint32_t> take(Clock& clock, Instant now) {
  clock.advance(now);
  const auto due = clock.take_due();
  return {due.begin(), due.end()};
}

TEST(Clock, ActorsSleepUntilTheyAreWoken) {
  Clock clock(at(100));
  EXPECT_EQ(clock.add(), 0u);
  EXPECT_EQ(clock.add(), 1u);
  EXPECT_TRUE(clock.next().is_never());
  clock.wake(1, at(150));
  EXPECT_EQ(clock.next(), at(150));
  EXPECT_TRUE(clock.at(0).is_never());
  EXPECT_EQ(take(clock, at(120)), std::vector<uint32_t>{});
  EXPECT_EQ(take(clock, at(150)), std::vector<uint32_t>{1});
  EXPECT_TRUE(clock.next().is_never());
}

TEST(Clock, WakingAgainMovesTheInstantBothWays) {
  Clock clock(at(0));
  clock.add();
  clock.wake(0, at(50));
  clock.wake(0, at(20));
  EXPECT_EQ(clock.next(), at(20));
  clock.wake(0, at(70));
  EXPECT_EQ(clock.next(), at(70));
  clock.wake(0, Instant::never());
  EXPECT_TRUE(clock.next().is_never());
}

TEST(Clock, ActorsOfOneInstantComeInTheirOrder) {
  Clock clock(at(0));
  for (int i = 0; i < 5; ++i) clock.add();
  for (const uint32_t actor : {3u, 0u, 4u, 1u}) clock.wake(actor, at(10));
  clock.wake(2, at(11));
  EXPECT_EQ(take(clock, at(10)), (std::vector<uint32_t>{0, 1, 3, 4}));
}

TEST(Clock, ThePastIsNow) {
  Clock clock(at(0));
  clock.add();
  clock.add();
  clock.advance(at(40));
  clock.wake(1, at(10));
  clock.wake(0, at(40));
  EXPECT_EQ(clock.next(), at(40));
  EXPECT_EQ(take(clock, at(40)), (std::vector<uint32_t>{0, 1}));
}

TEST(Clock, TimeDoesNotPassAnActorThatIsDue) {
  Clock clock(at(0));
  clock.add();
  clock.wake(0, at(10));
  EXPECT_DEATH(clock.advance(at(11)), "");
}

TEST(Clock, ACalledActorRunsNowAndKeepsItsInstant) {
  Clock clock(at(0));
  for (int i = 0; i < 4; ++i) clock.add();
  clock.wake(0, at(30));
  clock.wake(3, at(20));
  clock.wake(1, at(20));
  clock.advance(at(20));
  clock.call(2);
  clock.call(0);
  clock.call(1);
  clock.call(0);
  EXPECT_EQ(clock.next(), at(20));
  EXPECT_EQ(take(clock, at(20)), (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(clock.next(), at(30)) << "of 0";
  EXPECT_EQ(take(clock, at(30)), (std::vector<uint32_t>{0}));
  EXPECT_TRUE(clock.next().is_never());
  clock.call(2);
  EXPECT_EQ(take(clock, at(30)), (std::vector<uint32_t>{2}));
}

// Against a list that is searched.
TEST(Clock, TheHeapGivesTheEarliestOfMany) {
  Clock clock(at(0));
  constexpr uint32_t kActors = 60;
  std::vector<Instant> expected(kActors, Instant::never());
  for (uint32_t i = 0; i < kActors; ++i) clock.add();
  Rng rng(7);
  for (int step = 0; step < 20'000; ++step) {
    const auto actor = static_cast<uint32_t>(rng.below(kActors));
    const Instant when = rng.chance(0.1)
                             ? Instant::never()
                             : clock.now() + Duration::nanoseconds(int64_t(rng.below(50)));
    clock.wake(actor, when);
    expected[actor] = when;
    const Instant first = *std::min_element(expected.begin(), expected.end());
    ASSERT_EQ(clock.next(), first);
    if (first.is_never() || !rng.chance(0.3)) continue;
    std::vector<uint32_t> due;
    for (uint32_t i = 0; i < kActors; ++i) {
      if (expected[i] != first) continue;
      due.push_back(i);
      expected[i] = Instant::never();
    }
    ASSERT_EQ(take(clock, first), due);
  }
}

}  // namespace
}  // namespace uet::sim
