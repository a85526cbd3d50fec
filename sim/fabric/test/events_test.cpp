// The order of events.
#include "sim/fabric/events.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace uet::sim::fabric {
namespace {

TEST(EventQueueTest, ComesInOrderOfTimeNearAndFar) {
  // Within a bucket, in the next ones, at the end of the calendar, beyond it.
  const std::vector<Picoseconds> times{0,         1,         1023,      1024,
                                       8'388'607, 8'388'608, 9'000'000, 1'000'000'000'000};
  EventQueue q;
  for (auto t = times.rbegin(); t != times.rend(); ++t) q.add(*t, 7);
  EXPECT_EQ(q.size(), times.size());
  for (const Picoseconds t : times) {
    EXPECT_EQ(q.next(), t);
    Event e{};
    ASSERT_TRUE(q.take(e));
    EXPECT_EQ(e.at, t);
    EXPECT_EQ(e.who, 7u);
  }
  Event e{};
  EXPECT_FALSE(q.take(e));
  EXPECT_EQ(q.next(), kNever);
}

// Against a plain list: the next event is always the earliest one.
TEST(EventQueueTest, NoEventIsLostOrLate) {
  Rng rng(3);
  EventQueue q;
  std::vector<Picoseconds> expected;
  Picoseconds now = 0;
  for (uint32_t i = 0; i < 50'000; ++i) {
    if (expected.empty() || rng.below(100) < 52) {
      const uint64_t spans[] = {10, 3'000, 2'000'000, 20'000'000, 3'000'000'000};
      const auto at = now + static_cast<Picoseconds>(rng.below(spans[rng.below(5)]));
      q.add(at, i);
      expected.push_back(at);
      continue;
    }
    Event e{};
    ASSERT_TRUE(q.take(e));
    const auto least = std::ranges::min_element(expected);
    ASSERT_EQ(e.at, *least);
    expected.erase(least);
    now = e.at;
  }
  EXPECT_EQ(q.size(), expected.size());
}

// Two queues of the same events, of which one knows more of them.
TEST(EventQueueTest, WhatIsKnownAheadChangesNoOrder) {
  Rng rng(5);
  EventQueue plain, ahead;
  ahead.know_ahead(30);
  Picoseconds now = 0;
  uint32_t known = 0, foretold = 0;
  for (uint32_t i = 0; i < 200'000; ++i) {
    if (i < 200 || rng.below(100) < 50) {
      const uint64_t spans[] = {10, 3'000, 1'000'000, 20'000'000, 3'000'000'000};
      const auto at = now + static_cast<Picoseconds>(rng.below(spans[rng.below(5)]));
      plain.add(at, i);
      ahead.add(at, i);
      continue;
    }
    ASSERT_EQ(plain.next(), ahead.next());
    if (ahead.upcoming(8) != UINT32_MAX) ++known;
    if (plain.upcoming(8) != UINT32_MAX) ++foretold;
    const uint32_t second = ahead.upcoming(2);
    Event a{}, b{};
    ASSERT_EQ(plain.take(a), ahead.take(b));
    ASSERT_EQ(a.at, b.at);
    ASSERT_EQ(a.who, b.who);
    if (second != UINT32_MAX) {
      EXPECT_EQ(ahead.upcoming(1), second);
    }
    now = a.at;
  }
  EXPECT_GT(known, foretold);
}

TEST(EventQueueTest, OneBucketHoldsManyEvents) {
  EventQueue q;
  for (uint32_t who = 0; who < 1'000; ++who) q.add(5'000 + who % 7, who);
  std::vector<bool> seen(1'000);
  Event e{};
  for (Picoseconds last = 0; q.take(e); last = e.at) {
    EXPECT_LE(last, e.at);
    EXPECT_EQ(e.at, 5'000 + e.who % 7);
    EXPECT_FALSE(seen[e.who]);
    seen[e.who] = true;
  }
  EXPECT_EQ(std::ranges::count(seen, true), 1'000);
}

// Among 64 simultaneous events neither the lowest number nor the first added always leads.
TEST(EventQueueTest, SimultaneousEventsFavourNoPort) {
  std::vector<uint32_t> firsts;
  for (Picoseconds at = 5'000; at < 5'100; ++at) {
    EventQueue q;
    for (uint32_t who = 0; who < 64; ++who) q.add(at, who);
    Event e{};
    ASSERT_TRUE(q.take(e));
    firsts.push_back(e.who);
  }
  std::ranges::sort(firsts);
  const auto different = std::ranges::unique(firsts).begin() - firsts.begin();
  EXPECT_GT(different, 40);
}

TEST(EventQueueTest, TheOrderOfOneInstantDoesNotDependOnTheOrderOfAdding) {
  EventQueue a, b;
  for (uint32_t who = 0; who < 20; ++who) {
    a.add(777, who);
    b.add(777, 19 - who);
  }
  for (int i = 0; i < 20; ++i) {
    Event from_a{}, from_b{};
    ASSERT_TRUE(a.take(from_a) && b.take(from_b));
    EXPECT_EQ(from_a.who, from_b.who);
  }
}

}  // namespace
}  // namespace uet::sim::fabric
