// Samples of whole runs.
#include "sim/fabric/generate.h"
#include "sim/fabric/run.h"

#include "sim/traffic/patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace uet::sim::fabric {
namespace {

RunPlan sampled_plan(Traffic traffic, Picoseconds every) {
  RunPlan plan;
  plan.topology = make_topology("fattree:4");
  plan.traffic = std::move(traffic);
  const Routes routes(plan.topology, plan.seed);
  plan.switches = switches_for(facts_of(plan.topology, routes, plan.stack.mtu_bytes), true, "nscc");
  plan.sample_every = every;
  return plan;
}

Traffic flow_of(uint64_t bytes) {
  Traffic traffic;
  traffic.hosts = 16;
  traffic.add(Flow{.from = 0, .to = 13, .bytes = bytes});
  return traffic;
}

TEST(SamplesTest, NoneAreTakenUnlessAskedFor) {
  const RunResult r = run(sampled_plan(flow_of(100'000), 0));
  EXPECT_TRUE(r.samples.at.empty());
  EXPECT_TRUE(r.samples.ports.empty());
}

TEST(SamplesTest, LookingChangesNothing) {
  const Traffic traffic = permutation({16, 300'000, 3});
  const RunResult with = run(sampled_plan(traffic, kMicrosecond));
  const RunResult without = run(sampled_plan(traffic, 0));
  EXPECT_EQ(with.digest, without.digest);
  EXPECT_EQ(with.end, without.end);
  EXPECT_EQ(with.events, without.events);
  EXPECT_FALSE(with.samples.at.empty());
}

// 100 Gbit/s are 12,500 octets in a microsecond.
TEST(SamplesTest, OneFlowIsSeenAtItsRate) {
  const RunResult r = run(sampled_plan(flow_of(1'000'000), kMicrosecond));
  const Samples& s = r.samples;
  const size_t ports = r.ports.size();
  ASSERT_GT(s.at.size(), 60u);
  ASSERT_EQ(s.ports.size(), s.at.size() * ports);
  ASSERT_EQ(s.windows.size(), s.at.size());
  EXPECT_LE(s.at.back(), r.end);
  for (size_t i = 0; i < s.at.size(); ++i) EXPECT_EQ(s.at[i], int64_t(i) * kMicrosecond);
  size_t source = 0;
  while (!r.ports[source].from_host || r.ports[source].from != 0) ++source;
  const uint64_t early = s.ports[20 * ports + source].sent_bytes;
  const uint64_t late = s.ports[60 * ports + source].sent_bytes;
  EXPECT_NEAR(static_cast<double>(late - early), 40 * 12'500.0, 2 * 4160.0);
  EXPECT_EQ(s.windows[20].senders, 1u);
  EXPECT_GE(s.windows[20].inflight, 100'000u);  // a round trip of 14 us at that rate is 175,000
  EXPECT_LE(s.windows[20].inflight, s.windows[20].median + 4160);
  EXPECT_EQ(s.windows[20].low, s.windows[20].high);
}

// 15 hosts send at full rate to one: its queue is full within a few microseconds, and no queue is
// ever seen longer than it was.
TEST(SamplesTest, TheQueueOfAnIncastIsSeen) {
  const RunResult r = run(sampled_plan(incast({16, 500'000, 1}, 15, 0), kMicrosecond));
  const Samples& s = r.samples;
  const size_t ports = r.ports.size();
  size_t last = 0;
  while (!r.ports[last].to_host || r.ports[last].to != 0) ++last;
  uint32_t seen = 0;
  for (size_t i = 0; i < s.at.size(); ++i) {
    seen = std::max(seen, s.ports[i * ports + last].data_bytes);
    for (size_t p = 0; p < ports; ++p) {
      ASSERT_LE(s.ports[i * ports + p].data_bytes, r.ports[p].low_max);
    }
  }
  EXPECT_GE(seen, r.ports[last].low_max - 4160);
  EXPECT_EQ(s.windows[10].senders, 15u);
}

TEST(SamplesTest, LongRunsAreSampledAtLongerIntervals) {
  const RunResult r = run(sampled_plan(flow_of(20'000'000), kMicrosecond));
  const Samples& s = r.samples;
  ASSERT_GT(r.end, 1'600 * kMicrosecond);
  EXPECT_EQ(s.interval, 8 * kMicrosecond);
  EXPECT_LE(s.at.size(), 256u);
  EXPECT_GT(s.at.size(), 128u);
  for (size_t i = 0; i < s.at.size(); ++i) EXPECT_EQ(s.at[i], int64_t(i) * s.interval);
  EXPECT_GT(s.at.back() + s.interval, r.end);
  const size_t ports = r.ports.size();
  for (size_t i = ports; i < s.ports.size(); ++i) {
    ASSERT_GE(s.ports[i].sent_bytes, s.ports[i - ports].sent_bytes);
  }
}

}  // namespace
}  // namespace uet::sim::fabric
