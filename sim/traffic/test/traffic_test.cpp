// Which flows begin when: by time, and by the three kinds of triggers (docs/howto/simulator.md has
// the format). And the errors of records that cannot be run.
#include "sim/traffic/traffic.h"

#include <gtest/gtest.h>

#include <string>

namespace uet::sim {
namespace {

// "flow@us" of each, in order.
std::string text(std::span<const Progress::Begin> begins) {
  std::string out;
  for (const Progress::Begin& b : begins) {
    out += (out.empty() ? "" : " ") + std::to_string(b.flow) + "@" + std::to_string(b.at.us());
  }
  return out;
}

class TrafficTest : public testing::Test {
 protected:
  uint32_t timed(int start_us, std::array<uint32_t, 2> fires = {}) {
    return traffic_.add({.from = 0, .to = 1, .bytes = 100, .start = us(start_us), .fires = fires});
  }
  uint32_t triggered(uint32_t trigger, int delay_us = 0, std::array<uint32_t, 2> fires = {}) {
    return traffic_.add({.from = 1,
                         .to = 2,
                         .bytes = 100,
                         .start = us(delay_us),
                         .trigger = trigger,
                         .fires = fires});
  }
  static Traffic empty() { return {.hosts = 4}; }
  static Duration us(int n) { return Duration::microseconds(n); }

  Traffic traffic_ = empty();
};

TEST_F(TrafficTest, FlowsWithoutATriggerBeginByTimeAndEqualsByTheirId) {
  timed(7);
  timed(0);
  timed(7);
  timed(3);
  ASSERT_EQ(traffic_.problem(), "");
  EXPECT_EQ(traffic_.bytes(), 400u);
  Progress progress(traffic_);
  EXPECT_EQ(text(progress.start()), "1@0 3@3 0@7 2@7");
  EXPECT_FALSE(progress.is_finished());
  for (const uint32_t flow : {1, 3, 0, 2}) EXPECT_EQ(text(progress.done(flow, us(9))), "");
  EXPECT_TRUE(progress.is_finished());
}

TEST_F(TrafficTest, OneshotStartsAllItsFlowsAtItsFirstFiringOnly) {
  const uint32_t t = traffic_.add(Trigger{});
  timed(0, {t});
  timed(0, {t});
  triggered(t);
  triggered(t, 5);  // a delay counts from the firing
  ASSERT_EQ(traffic_.problem(), "");
  Progress progress(traffic_);
  EXPECT_EQ(text(progress.start()), "0@0 1@0");
  EXPECT_EQ(text(progress.done(1, us(20))), "2@20 3@25");
  EXPECT_EQ(text(progress.done(0, us(30))), "");
}

TEST_F(TrafficTest, MultishotStartsTheNextFlowInFileOrderAtEachFiring) {
  const uint32_t t = traffic_.add(Trigger{TriggerKind::multishot});
  timed(0, {t});
  timed(0, {t});
  triggered(t, 0, {t});
  triggered(t, 0, {t});
  triggered(t, 0, {t});
  ASSERT_EQ(traffic_.problem(), "");
  Progress progress(traffic_);
  progress.start();
  EXPECT_EQ(text(progress.done(1, us(10))), "2@10");
  EXPECT_EQ(text(progress.done(2, us(20))), "3@20");
  EXPECT_EQ(text(progress.done(0, us(30))), "4@30");
  EXPECT_EQ(text(progress.done(3, us(40))), "");  // nothing is left to start
  EXPECT_EQ(text(progress.done(4, us(50))), "");
  EXPECT_TRUE(progress.is_finished());
}

TEST_F(TrafficTest, BarrierWaitsForItsCount) {
  const uint32_t t = traffic_.add(Trigger{TriggerKind::barrier, 3});
  timed(0, {t});
  timed(0, {t, t});  // two firings
  timed(0, {t});
  triggered(t);
  triggered(t);
  ASSERT_EQ(traffic_.problem(), "");
  Progress progress(traffic_);
  progress.start();
  EXPECT_EQ(text(progress.done(0, us(1))), "");
  EXPECT_EQ(text(progress.done(1, us(2))), "3@2 4@2");
  EXPECT_EQ(text(progress.done(2, us(3))), "");
}

TEST_F(TrafficTest, AFlowMayFireTwoTriggers) {
  const uint32_t a = traffic_.add(Trigger{}), b = traffic_.add(Trigger{});
  timed(0, {b, a});
  triggered(a);
  triggered(b);
  Progress progress(traffic_);
  progress.start();
  EXPECT_EQ(text(progress.done(0, us(1))), "2@1 1@1");
}

TEST_F(TrafficTest, KindsAreNamesThatAreKeptOnce) {
  EXPECT_EQ(traffic_.kind("dp"), 1u);
  EXPECT_EQ(traffic_.kind("tp"), 2u);
  EXPECT_EQ(traffic_.kind("dp"), 1u);
  EXPECT_EQ(traffic_.kinds, (std::vector<std::string>{"", "dp", "tp"}));
}

TEST_F(TrafficTest, ProblemsAreSaid) {
  const auto problem_with = [this](auto change) {
    traffic_ = empty();
    traffic_.add(Trigger{});
    timed(0, {1});
    triggered(1);
    EXPECT_EQ(traffic_.problem(), "");
    change(traffic_);
    return traffic_.problem();
  };
  EXPECT_EQ(problem_with([](Traffic& t) { t.hosts = 2; }),
            "flow 1 (1->2): its hosts must be below 2");
  EXPECT_EQ(problem_with([](Traffic& t) { t.flows[1].to = 1; }),
            "flow 1 (1->1): a host cannot send to itself");
  EXPECT_EQ(problem_with([](Traffic& t) { t.flows[0].bytes = 0; }),
            "flow 0 (0->1): it has no bytes");
  EXPECT_EQ(problem_with([](Traffic& t) { t.flows[0].start = Duration::nanoseconds(-1); }),
            "flow 0 (0->1): it starts before time 0");
  EXPECT_EQ(problem_with([](Traffic& t) { t.flows[0].start = Duration::infinite(); }),
            "flow 0 (0->1): it starts later than after 10^8 seconds");
  EXPECT_EQ(problem_with([](Traffic& t) { t.flows[0].fires[1] = 2; }),
            "flow 0 (0->1): there is no trigger 2");
  EXPECT_EQ(problem_with([](Traffic& t) { t.flows[0].kind = 1; }),
            "flow 0 (0->1): there is no kind 1");
  EXPECT_EQ(problem_with([](Traffic& t) { t.flows[0].fires[0] = 0; }),
            "flow 1 (1->2): it never begins, because trigger 1 does not fire often enough");
  EXPECT_EQ(problem_with([](Traffic& t) {
              t.triggers[0] = {TriggerKind::barrier, 2};
            }),
            "flow 1 (1->2): it never begins, because trigger 1 does not fire often enough");
  EXPECT_EQ(problem_with([](Traffic& t) { t.triggers[0].kind = TriggerKind::barrier; }),
            "trigger 1: a barrier needs a count above 0");
  EXPECT_EQ(problem_with([](Traffic& t) { t.triggers[0].count = 1; }),
            "trigger 1: only a barrier has a count");
  EXPECT_EQ(problem_with([](Traffic& t) { t.flows[0].connection = t.flows[1].connection = 9; }),
            "flow 1 (1->2): connection 9 has other hosts: flow 0 (0->1)");
}

// Two flows that wait for each other.
TEST_F(TrafficTest, FlowsThatWaitInACircleNeverBegin) {
  const uint32_t a = traffic_.add(Trigger{}), b = traffic_.add(Trigger{});
  triggered(a, 0, {b});
  triggered(b, 0, {a});
  EXPECT_EQ(traffic_.problem(),
            "flow 0 (1->2): it never begins, because trigger 1 does not fire often enough");
}

}  // namespace
}  // namespace uet::sim
