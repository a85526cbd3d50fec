// Incasts between hosts that run the stack, with each of its algorithms: no packet times out where
// switches trim, equal flows get equal shares, the port that all send to stays busy, and a flow
// beside them is hardly slower. Sizes keep each test below a few seconds.
#include "sim/fabric/generate.h"
#include "sim/fabric/run.h"

#include "sim/traffic/patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace uet::sim::fabric {
namespace {

constexpr std::array kAlgorithms{"nscc", "rccc", "both"};
constexpr uint32_t kHosts = 128;
constexpr Picoseconds kPacketTime = int64_t{4160} * 80;  // of a full packet at 100 Gbit/s

RunPlan plan_of(Traffic traffic, const std::string& congestion, uint64_t seed) {
  RunPlan plan;
  plan.stack.congestion = congestion;
  plan.seed = seed;
  plan.topology = make_topology("fattree:8");
  plan.traffic = std::move(traffic);
  const Routes routes(plan.topology, plan.seed);
  const NetworkFacts facts = facts_of(plan.topology, routes, plan.stack.mtu_bytes);
  plan.switches = switches_for(facts, true, plan.stack.congestion);
  return plan;
}

uint64_t counted(const RunResult& r, std::string_view name) {
  const auto at = std::ranges::find(r.counters, name, &std::pair<std::string, uint64_t>::first);
  EXPECT_NE(at, r.counters.end()) << name;
  return at == r.counters.end() ? 0 : at->second;
}

// [PDS-145, CMS-068, CMS-165] A trimmed packet is refused at once, so a time-out only means that no
// packet asked for the ACK of one that had arrived.
TEST(IncastTest, NothingTimesOutWhereSwitchesTrim) {
  for (const uint32_t senders : {8u, 32u, 64u, 126u}) {
    for (const char* const congestion : kAlgorithms) {
      SCOPED_TRACE(std::to_string(senders) + " " + congestion);
      const Traffic traffic = incast({kHosts, 1'000'000, 1}, senders, 0);
      const RunResult r = run(plan_of(traffic, congestion, senders == 32 ? 3 : 1));
      ASSERT_TRUE(r.is_finished);
      EXPECT_GT(r.tally.trimmed, senders * 25u) << "the first windows do not fit";
      EXPECT_EQ(r.tally.dropped(), 0u);
      EXPECT_EQ(counted(r, "retx_rto"), 0u);
      EXPECT_EQ(counted(r, "retx_tail"), 0u);
    }
  }
}

// Data packets that have left each sender and were not trimmed.
std::vector<double> passed_by(RunPlan& plan, Picoseconds until) {
  plan.until = until;
  std::vector<double> packets;
  for (const FlowRecord& f : run(plan).flows) packets.push_back(f.sent - f.trimmed);
  return packets;
}

struct Shares {
  double jain = 0;         // 1: all are equal
  double utilisation = 0;  // of the receiver's link
};

// Of endless flows from other pods, whose ways are equally long, between two moments.
Shares shares(const std::string& congestion, uint32_t senders, Picoseconds from, Picoseconds to) {
  Traffic traffic;
  traffic.hosts = kHosts;
  for (uint32_t i = 0; i < senders; ++i) {
    const uint32_t host = 16 + i * (kHosts - 16) / senders;
    traffic.add(Flow{.from = host, .to = 0, .bytes = 100'000'000});
  }
  RunPlan plan = plan_of(std::move(traffic), congestion, 1);
  const std::vector<double> before = passed_by(plan, from), after = passed_by(plan, to);
  double sum = 0, squares = 0;
  for (uint32_t i = 0; i < senders; ++i) {
    const double share = after[i] - before[i];
    sum += share;
    squares += share * share;
  }
  return {sum * sum / (senders * squares),
          sum * double{kPacketTime} / static_cast<double>(to - from)};
}

// [CMS-019, CMS-138] Each of eight or 32 senders gets its share of the port, and all together fill
// it; what is in flight counts once, or those whose packets were late would get more for good.
TEST(IncastTest, EqualFlowsHaveEqualShares) {
  for (const char* const congestion : kAlgorithms) {
    for (const uint32_t senders : {8u, 32u}) {
      SCOPED_TRACE(std::to_string(senders) + " " + congestion);
      const bool is_slow = senders == 32;  // shares of a packet in flight are equal on average only
      const Shares s = shares(congestion, senders, (is_slow ? 2'000 : 1'000) * kMicrosecond,
                              (is_slow ? 10'000 : 4'000) * kMicrosecond);
      EXPECT_GE(s.jain, 0.95);
      EXPECT_GE(s.utilisation, 0.95);
      EXPECT_LE(s.utilisation, 1.01);
    }
  }
}

// [CMS-131] Eight times 2 MB and 64 octets for each packet of 4,096 take 1,300 us at the rate of
// the link: it takes at most a twentieth more, first windows and trims included.
TEST(IncastTest, EightSendersFillTheLink) {
  for (const char* const congestion : kAlgorithms) {
    SCOPED_TRACE(congestion);
    const RunResult r = run(plan_of(incast({kHosts, 2'000'000, 1}, 8, 0), congestion, 1));
    ASSERT_TRUE(r.is_finished);
    constexpr int64_t kLeast = int64_t{8} * (2'000'000 + 489 * 64) * 80;
    EXPECT_GT(r.end, kLeast);
    EXPECT_LT(r.end * 95 / 100, kLeast);
  }
}

// All other hosts send to host 33, and one to its neighbour, through queues that
// the incast fills. That flow alone would take 176 us, and the incast takes 20 ms: the median of
// three seeds is not above twice the time alone; with credit above a quarter more.
TEST(IncastTest, AFlowBesideAnIncastIsHardlySlower) {
  Traffic traffic;
  traffic.hosts = kHosts;
  for (uint32_t host = 0; host < kHosts; ++host) {
    if (host != 33 && host != 38) traffic.add(Flow{.from = host, .to = 33, .bytes = 2'000'000});
  }
  const uint32_t victim = traffic.add(Flow{.from = 38, .to = 34, .bytes = 2'000'000});
  for (const char* const congestion : kAlgorithms) {
    SCOPED_TRACE(congestion);
    std::array<Picoseconds, 3> times{};
    for (uint64_t seed = 0; seed < times.size(); ++seed) {
      RunPlan plan = plan_of(traffic, congestion, seed + 1);
      plan.until = 600 * kMicrosecond;
      times[seed] = run(plan).flows[victim].finish;
    }
    std::ranges::sort(times);
    constexpr Picoseconds kAlone = 176 * kMicrosecond;
    EXPECT_LE(times[1], std::string_view(congestion) == "rccc" ? kAlone * 5 / 4 : kAlone * 2);
  }
}

}  // namespace
}  // namespace uet::sim::fabric
