// The world: which actors it visits, when, and in which order.
#include "sim/world/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace uet::sim {
namespace {

constexpr Instant kStart = Instant::from_ns(1'000);

constexpr Instant after(int64_t ns) { return kStart + Duration::nanoseconds(ns); }

// At each of these times something arrives for an actor.
struct Line {
  std::vector<std::pair<Instant, uint32_t>> arrivals;  // in their order
  std::vector<uint32_t> touched;
  Instant at = kStart;

  Instant next_event() const { return arrivals.empty() ? Instant::never() : arrivals[0].first; }
  void advance(Instant now) {
    at = now;
    while (next_event() <= now) {
      touched.push_back(arrivals[0].second);
      arrivals.erase(arrivals.begin());
    }
  }
  uint32_t take_touched() {
    if (touched.empty()) return kNobody;
    const uint32_t actor = touched.back();
    touched.pop_back();
    return actor;
  }
};

class WorldTest : public ::testing::Test {
 protected:
  using Visit = std::pair<Instant, uint32_t>;

  WorldTest() {
    for (int i = 0; i < 3; ++i) world_.add();
  }
  // Visits until `end`; each actor wants nothing more.
  void run(Instant end) {
    while (world_.step(end, [&](uint32_t actor) {
      visits_.emplace_back(world_.now(), actor);
      EXPECT_EQ(line_.at, world_.now()) << "the network is at the same time";
      return Instant::never();
    })) {
    }
  }
  Line line_;
  World<Line> world_{line_, kStart};
  std::vector<Visit> visits_;
};

TEST_F(WorldTest, AnActorIsVisitedWhenSomethingArrivesAndWhenItWantedTo) {
  line_.arrivals = {{after(10), 2}, {after(30), 0}};
  world_.wake(1, after(20));
  run(after(100));
  EXPECT_EQ(visits_, (std::vector<Visit>{{after(10), 2}, {after(20), 1}, {after(30), 0}}));
}

TEST_F(WorldTest, ActorsOfOneInstantComeInTheirOrderOnceEach) {
  line_.arrivals = {{after(10), 2}, {after(10), 0}};
  world_.wake(1, after(10));
  world_.wake(0, after(10));
  run(after(100));
  EXPECT_EQ(visits_, (std::vector<Visit>{{after(10), 0}, {after(10), 1}, {after(10), 2}}));
}

TEST_F(WorldTest, NothingHappensAfterTheEnd) {
  line_.arrivals = {{after(10), 0}, {after(51), 0}};
  world_.wake(1, after(60));
  run(after(50));
  EXPECT_EQ(visits_, (std::vector<Visit>{{after(10), 0}}));
  EXPECT_EQ(world_.now(), after(10));
  EXPECT_EQ(world_.next(), after(51));
}

TEST_F(WorldTest, AVisitSaysWhenTheNextOneIs) {
  world_.wake(0, kStart);
  std::vector<Instant> visits;
  while (world_.step(after(25), [&](uint32_t) {
    visits.push_back(world_.now());
    return world_.now() + Duration::nanoseconds(10);
  })) {
  }
  EXPECT_EQ(visits, (std::vector{kStart, after(10), after(20)}));
}

// What a visit sends arrives at its time, although nothing was in flight before; and a visit may
// wake another actor.
TEST_F(WorldTest, VisitsMakeEvents) {
  world_.wake(0, kStart);
  std::vector<Visit> visits;
  while (world_.step(after(100), [&](uint32_t actor) {
    visits.emplace_back(world_.now(), actor);
    if (actor == 0) {
      line_.arrivals.emplace_back(after(10), 1);
      world_.wake(2, after(5));
    }
    return Instant::never();
  })) {
  }
  EXPECT_EQ(visits, (std::vector<Visit>{{kStart, 0}, {after(5), 2}, {after(10), 1}}));
  EXPECT_TRUE(world_.next().is_never());
}

}  // namespace
}  // namespace uet::sim
