// Fault plans as text: every item, its units, and the sentence for each kind of mistake.
#include "io/fault/fault_plan.h"

#include <gtest/gtest.h>

namespace uet::io {
namespace {

using namespace uet::literals;

std::string complaint(std::string_view text) {
  std::string error;
  EXPECT_FALSE(parse_fault_plan(text, &error).has_value()) << text;
  return error;
}

TEST(FaultPlanTest, EmptyTextIsThePerfectPath) { EXPECT_EQ(parse_fault_plan(""), FaultPlan{}); }

TEST(FaultPlanTest, EveryItemIsRead) {
  FaultPlan want;
  want.loss = 0.01;
  want.burst = 0.001;
  want.burst_packets = 8;
  want.duplicate = 0.002;
  want.reorder = 0.05;
  want.reorder_delay = 30_us;
  want.corrupt = 0.125;
  want.deliver_corrupt = false;
  want.delay = 50_us;
  want.jitter = 20_us;
  want.mtu_bytes = 4096;
  want.rate_bps = 100'000'000'000;
  want.queue_bytes = 1 << 20;
  want.ecn_mark_bytes = 100 << 10;
  want.trim_bytes = 64;
  want.blackholes[0] = {Instant::from_ns(1'000'000), Instant::from_ns(2'500'000)};
  want.blackholes[1] = {Instant::from_ns(5'000'000'000), Instant::from_ns(6'000'000'000)};
  want.blackhole_count = 2;
  want.fail_at = Instant::from_ns(7'000'000);
  want.seed = 18446744073709551615u;
  EXPECT_EQ(parse_fault_plan("loss=0.01,burst=0.001:8,dup=0.002,reorder=0.05:30us,corrupt=0.125,"
                             "corrupt_delivered=0,delay=50us,jitter=20us,mtu=4k,rate=100g,queue=1m,"
                             "ecn=100k,trim=64,blackhole=1ms-2.5ms,blackhole=5s-6s,"
                             "fail=7ms,seed=18446744073709551615"),
            want);
}

TEST(FaultPlanTest, ReorderKeepsItsDefaultDelay) {
  const auto plan = parse_fault_plan("reorder=1");
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->reorder, 1.0);
  EXPECT_EQ(plan->reorder_delay, 100_us);
}

TEST(FaultPlanTest, MistakesAreNamed) {
  EXPECT_EQ(complaint("loss=0.1,delay"), "fault plan: name=value expected in \"delay\"");
  EXPECT_EQ(complaint("loss=1.5"), "fault plan: value out of range or malformed in \"loss=1.5\"");
  EXPECT_NE(complaint("lose=0.1").find("unknown name (known: loss"), std::string::npos);
}

TEST(FaultPlanTest, ValuesThatMeanNothingAreRefused) {
  for (const char* text : {"loss=",
                           "loss=-0.1",
                           "loss=nan",
                           "loss=0.1x",
                           "dup=2",
                           "corrupt=inf",
                           "burst=0.1",
                           "burst=0.1:0",
                           "burst=0.1:x",
                           "reorder=0.1:5",
                           "delay=50",
                           "delay=us",
                           "delay=-1us",
                           "delay=90000s",
                           "mtu=5g",
                           "rate=1t",
                           "corrupt_delivered=2",
                           "fail=1",
                           "fail=-1s",
                           "blackhole=5ms",
                           "blackhole=5ms-5ms",
                           "blackhole=6ms-5ms",
                           "seed=-1",
                           "seed=1.5",
                           "=",
                           ",",
                           "loss=0.1,,"}) {
    EXPECT_NE(complaint(text), "") << text;
  }
  EXPECT_NE(complaint("blackhole=1s-2s,blackhole=1s-2s,blackhole=1s-2s,blackhole=1s-2s,"
                      "blackhole=1s-2s"),
            "");
}

TEST(FaultPlanTest, BlackholeIncludesItsStartButNotItsEnd) {
  const auto plan = parse_fault_plan("blackhole=10ns-20ns");
  ASSERT_TRUE(plan.has_value());
  EXPECT_FALSE(plan->blackholed(Instant::from_ns(9)));
  EXPECT_TRUE(plan->blackholed(Instant::from_ns(10)));
  EXPECT_TRUE(plan->blackholed(Instant::from_ns(19)));
  EXPECT_FALSE(plan->blackholed(Instant::from_ns(20)));
}

}  // namespace
}  // namespace uet::io
