// The tasks of one host: by time, then by number.
#include "sim/agenda.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace uet::sim {
namespace {

using Lane = Agenda::Lane;

Instant at(int64_t ns) { return Instant::from_ns(ns); }

TEST(Agenda, DueTasksComeByNumber) {
  Agenda agenda;
  agenda.add(Lane::send, 7, at(10));
  agenda.add(Lane::send, 3, at(20));
  agenda.add(Lane::send, 5, at(30));
  EXPECT_EQ(agenda.first_due(Lane::send, 0), 0u);
  agenda.advance(at(20));
  EXPECT_EQ(agenda.first_due(Lane::send, 0), 3u);
  EXPECT_EQ(agenda.first_due(Lane::send, 3), 7u);
  EXPECT_EQ(agenda.first_due(Lane::send, 7), 0u);
  ASSERT_NE(agenda.first_later(), nullptr);
  EXPECT_EQ(agenda.first_later()->id, 5u);
}

TEST(Agenda, LanesAreApart) {
  Agenda agenda;
  agenda.add_due(Lane::receive, 1);
  agenda.add_due(Lane::send, 2);
  agenda.finish(Lane::send, 1);
  EXPECT_EQ(agenda.first_due(Lane::receive, 0), 1u);
  EXPECT_EQ(agenda.first_due(Lane::send, 0), 2u);
  EXPECT_EQ(agenda.first_due(Lane::other, 0), 0u);
  agenda.finish(Lane::receive, 1);
  EXPECT_EQ(agenda.first_due(Lane::receive, 0), 0u);
}

TEST(Agenda, SaysWhetherATaskIsDue) {
  Agenda agenda;
  EXPECT_FALSE(agenda.has_due(at(10)));
  agenda.add(Lane::send, 7, at(10));
  EXPECT_FALSE(agenda.has_due(at(9)));
  EXPECT_TRUE(agenda.has_due(at(10)));
  agenda.advance(at(10));
  EXPECT_TRUE(agenda.has_due(at(9))) << "until it is finished";
  agenda.finish(Lane::send, 7);
  EXPECT_FALSE(agenda.has_due(at(10)));
  agenda.add_next_time(Lane::other, 8, at(50));
  EXPECT_TRUE(agenda.has_due(at(10))) << "the next advance() looks at it";
  agenda.advance(at(10));
  EXPECT_FALSE(agenda.has_due(at(49)));
}

TEST(Agenda, ATaskForNextTimeIsNotSeenBefore) {
  Agenda agenda;
  agenda.add_next_time(Lane::other, 4, at(10));
  EXPECT_EQ(agenda.first_later(), nullptr);
  agenda.advance(at(5));
  ASSERT_NE(agenda.first_later(), nullptr);
  EXPECT_EQ(agenda.first_later()->at, at(10));
  agenda.advance(at(10));
  EXPECT_EQ(agenda.first_due(Lane::other, 0), 4u);
  EXPECT_EQ(agenda.first_later(), nullptr);
}

// Against lists that are searched: many tasks known from the start, others that come later, some
// due twice, finished from the front and from the middle.
TEST(Agenda, IsTheSameAsListsThatAreSearched) {
  Rng rng(5);
  Agenda agenda;
  std::map<uint32_t, Instant> later;
  std::set<uint32_t> due;
  uint32_t id = 0;
  const auto add = [&](Instant when) {
    agenda.add(Lane::send, ++id, when);
    later[id] = when;
  };
  for (int i = 0; i < 500; ++i) add(at(static_cast<int64_t>(rng.below(1'000))));
  for (int64_t now = 0; now < 1'200; ++now) {
    agenda.advance(at(now));
    for (auto task = later.begin(); task != later.end();) {
      const bool is_due = task->second <= at(now);
      if (is_due) due.insert(task->first);
      task = is_due ? later.erase(task) : std::next(task);
    }
    const auto earliest = std::min_element(later.begin(), later.end(),
                                           [](auto& a, auto& b) { return a.second < b.second; });
    ASSERT_EQ(agenda.first_later() == nullptr, later.empty());
    if (!later.empty()) {
      ASSERT_EQ(agenda.first_later()->at, earliest->second);
    }
    uint32_t seen = 0;
    for (const uint32_t expected : std::set<uint32_t>(due)) {
      ASSERT_EQ(agenda.first_due(Lane::send, seen), expected);
      seen = expected;
      if (!rng.chance(0.7)) continue;
      agenda.finish(Lane::send, expected);
      due.erase(expected);
    }
    ASSERT_EQ(agenda.first_due(Lane::send, seen), 0u);
    if (rng.chance(0.3)) add(at(now + static_cast<int64_t>(rng.below(100))));
    if (rng.chance(0.1) && id > 1) {
      const auto again = static_cast<uint32_t>(1 + rng.below(id));
      if (later.contains(again)) continue;
      agenda.add_due(Lane::send, again);
      due.insert(again);
    }
  }
}

}  // namespace
}  // namespace uet::sim
