// Whole runs with the endpoints of the provider.
#include "sim/fabric/run.h"
#include "sim/fabric/generate.h"

#include "sim/traffic/patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace uet::sim::fabric {
namespace {

RunPlan plan_of(const std::string& request, Traffic traffic, const std::string& congestion = "") {
  RunPlan plan;
  plan.stack.congestion = congestion;
  plan.topology = make_topology(request);
  plan.traffic = std::move(traffic);
  const Routes routes(plan.topology, plan.seed);
  const NetworkFacts facts = facts_of(plan.topology, routes, plan.stack.mtu_bytes);
  plan.switches = switches_for(facts, true, plan.stack.congestion);
  return plan;
}

Traffic one_flow(uint64_t bytes) {
  Traffic traffic;
  traffic.hosts = 16;
  traffic.add(Flow{.from = 0, .to = 13, .bytes = bytes});
  return traffic;
}

void expect_conserved(const RunResult& r) {
  EXPECT_EQ(r.tally.sent, r.tally.delivered + r.tally.dropped() + r.in_flight);
}

// A full packet there and an ACK back over six cables each.
TEST(RunTest, AMessageOfOnePacketTakesARoundTrip) {
  const RunResult r = run(plan_of("fattree:4", one_flow(4096)));
  ASSERT_TRUE(r.is_finished);
  EXPECT_EQ(r.flows[0].finish, 6 * (332'800 + kMicrosecond) + 6 * (5'120 + kMicrosecond));
  EXPECT_EQ(r.flows[0].finish, r.facts.base_rtt);
  EXPECT_EQ(r.flows[0].sent, 1u);
}

// htsim: 176.2 us. 488 packets of 4,160 octets and one of 1,216 leave in 162.504 us; the last full
// one arrives 5 packets and 6 cables after it has left, perhaps behind the short one and a Probe,
// and the ACK takes 6.031 us.
TEST(RunTest, OneFlowFillsItsLink) {
  const RunResult r = run(plan_of("fattree:4", one_flow(2'000'000)));
  ASSERT_TRUE(r.is_finished);
  EXPECT_FALSE(r.flows[0].failed);
  EXPECT_GE(r.flows[0].finish, 162'406'400 + 5 * 332'800 + 12'030'720);
  EXPECT_LE(r.flows[0].finish, 162'503'680 + 5'120 + 5 * 332'800 + 12'030'720);
  EXPECT_EQ(r.flows[0].sent, 489u);
  EXPECT_EQ(r.flows[0].resent, 0u);
  EXPECT_EQ(r.tally.trimmed, 0u);
  expect_conserved(r);
}

// [CMS-045, CMS-109, CMS-180, CMS-181, CMS-185, CMS-186, CMS-187] Six cables of 1 us each way, a
// full packet and an ACK on each. The higher class stands for two, of one product each; without
// cuts the queue of data holds five.
TEST(RunTest, ThresholdsFollowFromTheLongestPath) {
  const RunPlan plan = plan_of("fattree:8", one_flow(1));
  const RunResult r = run(plan);
  EXPECT_EQ(r.facts.base_rtt, 12 * kMicrosecond + 6 * (4160 + 64) * 80);
  EXPECT_EQ(r.facts.bdp_bytes, 43u * 4160);  // 14.03 us at 12.5 octets a nanosecond: 42.2 packets
  EXPECT_EQ(plan.switches.low_bytes, 43u * 4160);
  EXPECT_EQ(plan.switches.ecn_low, 9u * 4160);
  EXPECT_EQ(plan.switches.ecn_high, 35u * 4160);
  EXPECT_EQ(plan.switches.high_bytes, 2u * 43 * 4160);
  EXPECT_EQ(switches_for(r.facts, false, "nscc").low_bytes, 5u * 43 * 4160);
  EXPECT_EQ(switches_for(r.facts, false, "nscc").ecn_low, 9u * 4160);
}

// Each write waits for the last ACK of the one before it.
TEST(RunTest, AFlowTooLongForOneWriteIsSeveral) {
  RunPlan plan = plan_of("fattree:4", one_flow(1'000'000));
  const RunResult whole = run(plan);
  plan.stack.write_bytes = 300'000;
  const RunResult parts = run(plan);
  ASSERT_TRUE(parts.is_finished);
  EXPECT_FALSE(parts.flows[0].failed);
  EXPECT_EQ(parts.flows[0].sent, 3u * 74 + 25);
  EXPECT_GT(parts.flows[0].finish, whole.flows[0].finish + 2 * parts.facts.base_rtt);
  EXPECT_LT(parts.flows[0].finish, whole.flows[0].finish + 4 * parts.facts.base_rtt);

  plan = plan_of("fattree:4", one_flow(5'000'000'000));
  plan.until = 100 * kMicrosecond;
  EXPECT_GT(run(plan).flows[0].sent, 200u);
  plan = plan_of("fattree:4", one_flow(uint64_t{1} << 60));
  EXPECT_THROW(run(plan), TopologyError);
}

TEST(RunTest, TheSameSeedSendsTheSamePackets) {
  RunPlan plan = plan_of("fattree:4", permutation({16, 300'000, 3}));
  const RunResult a = run(plan), b = run(plan);
  EXPECT_EQ(a.digest, b.digest);
  EXPECT_EQ(a.end, b.end);
  EXPECT_EQ(a.tally.hops, b.tally.hops);
  plan.seed = 2;
  EXPECT_NE(run(plan).digest, a.digest);
}

// Seven of eight packets in flight are cut at the start, and all messages end, none before their
// octets can have passed the last link.
TEST(RunTest, AnIncastIsCutAndEnds) {
  RunPlan plan = plan_of("fattree:4", incast({16, 400'000, 1}, 8, 0));
  const RunResult r = run(plan);
  ASSERT_TRUE(r.is_finished);
  EXPECT_GT(r.tally.trimmed, 100u);
  EXPECT_EQ(r.tally.dropped(), 0u);
  uint64_t trimmed = 0, resent = 0;
  for (const FlowRecord& f : r.flows) {
    EXPECT_FALSE(f.failed);
    EXPECT_EQ(f.sent, 98 + f.resent);
    trimmed += f.trimmed;
    resent += f.resent;
  }
  EXPECT_EQ(trimmed, r.tally.trimmed);
  EXPECT_GE(resent, trimmed);
  EXPECT_GT(r.end, 8 * (400'000 + 98 * 64) * 80);
  expect_conserved(r);
}

// [CMS-195] The queue of the port has no room for a packet of each of 63 senders. Less than half as
// many packets are cut as there are, and the port is hardly ever idle: means of five seeds.
TEST(RunTest, ManySendersSharePortAndAreSeldomCut) {
  constexpr int64_t kSeeds = 5;
  uint64_t trimmed = 0;
  Picoseconds ends = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    RunPlan plan = plan_of("leafspine:1x64x1", incast({64, 400'000, seed}, 63, 0));
    plan.seed = seed;
    const RunResult r = run(plan);
    ASSERT_TRUE(r.is_finished);
    trimmed += r.tally.trimmed;
    ends += r.end;
  }
  EXPECT_LT(trimmed, kSeeds * 63u * 98 / 2);
  constexpr int64_t kLeast = int64_t{63} * (400'000 + 98 * 64) * 80;  // ps
  EXPECT_LT(ends / kSeeds, kLeast * 108 / 100);
}

TEST(RunTest, WithoutTrimmingLostPacketsAreResent) {
  RunPlan plan = plan_of("fattree:4", incast({16, 200'000, 1}, 8, 0));
  plan.switches.trimming = false;
  const RunResult r = run(plan);
  ASSERT_TRUE(r.is_finished);
  EXPECT_EQ(r.tally.trimmed, 0u);
  EXPECT_GT(r.tally.queue_dropped, 0u);
  expect_conserved(r);
}

TEST(RunTest, AFailedLinkIsRoutedAround) {
  RunPlan plan = plan_of("leafspine:4x4x4", permutation({16, 1'000'000, 4}));
  plan.changes = parse_change(plan.topology, "leaf0:up1@20us");
  const RunResult r = run(plan);
  ASSERT_TRUE(r.is_finished);
  EXPECT_TRUE(std::ranges::none_of(r.flows, &FlowRecord::failed));
  EXPECT_GT(r.tally.link_dropped, 0u);
  ASSERT_EQ(r.happened.size(), 2u);
  EXPECT_FALSE(r.happened[0].is_reroute);
  EXPECT_EQ(r.happened[0].change.at, 20 * kMicrosecond);
  EXPECT_EQ(r.happened[0].change.share, 0);
  EXPECT_TRUE(r.happened[1].is_reroute);
  const Port& failed = r.ports[up_port(plan.topology.link_named("leaf0:up1"))];
  // It has carried a quarter of what four hosts send in 20 us: 250 kB.
  EXPECT_GT(failed.sent_bytes, 150'000u);
  EXPECT_LT(failed.sent_bytes, 260'000u);
  expect_conserved(r);
}

// A ring: each flow begins on another host when the one before it is done, to the picosecond's
// nanosecond; the flows of one host one after the other likewise.
TEST(RunTest, TriggersStartFlowsAfterEarlierFlows) {
  for (const uint32_t from : {1u, 0u}) {
    Traffic traffic;
    traffic.hosts = 16;
    const uint32_t trigger = traffic.add(Trigger{});
    traffic.add(Flow{.from = 0, .to = 13, .bytes = 50'000, .fires = {trigger, 0}});
    traffic.add(Flow{.from = from, .to = 5, .bytes = 50'000, .trigger = trigger});
    const RunResult r = run(plan_of("fattree:4", traffic));
    ASSERT_TRUE(r.is_finished);
    EXPECT_EQ(r.flows[1].start, r.flows[0].finish);
    EXPECT_GT(r.flows[1].finish, r.flows[1].start);
  }
}

TEST(RunTest, FlowsBeginAtTheirTimeAndTheRunEndsAtItsOwn) {
  Traffic traffic = one_flow(100'000);
  traffic.flows[0].start = Duration::microseconds(30);
  RunPlan plan = plan_of("fattree:4", traffic);
  EXPECT_EQ(run(plan).flows[0].start, 30 * kMicrosecond);
  plan.until = 40 * kMicrosecond;
  const RunResult cut = run(plan);
  EXPECT_FALSE(cut.is_finished);
  EXPECT_EQ(cut.flows[0].finish, kNever);
  EXPECT_EQ(cut.end, plan.until);
  EXPECT_GT(cut.in_flight, 0u);
  expect_conserved(cut);
}

TEST(RunTest, EveryTopologyCarriesAPermutation) {
  for (const char* const request :
       {"leafspine:4x4x2", "leafspine:4x4x4,planes=2", "rail:4x4", "railonly:4x4", "fattree:4"}) {
    const RunResult r = run(plan_of(request, permutation({16, 100'000, 7})));
    EXPECT_TRUE(r.is_finished) << request;
    EXPECT_TRUE(std::ranges::none_of(r.flows, &FlowRecord::failed)) << request;
    EXPECT_EQ(r.tally.dropped(), 0u) << request;
  }
}

TEST(RunTest, MemoryAskedForAheadChangesNoResult) {
  for (const char* const request : {"leafspine:4x4x4", "rail:4x4", "fattree:4"}) {
    for (const bool fails : {false, true}) {
      RunPlan plan = plan_of(request, permutation({16, 500'000, 7}));
      plan.until = 2'000 * kMicrosecond;
      if (fails) plan.changes = {{20 * kMicrosecond, 1, 0}};
      const RunResult plain = run(plan);
      plan.cached_hosts = 0;  // to ask with any number
      const RunResult ahead = run(plan);
      EXPECT_EQ(plain.digest, ahead.digest) << request;
      EXPECT_EQ(plain.events, ahead.events) << request;
      EXPECT_EQ(plain.end, ahead.end) << request;
      EXPECT_EQ(plain.counters, ahead.counters) << request;
    }
  }
}

TEST(RunTest, ChangesOfLinksAreReadFromText) {
  const Topology t = make_topology("leafspine:2x2x2");
  const auto flapping = parse_change(t, "leaf1:up1=0.25@50us+10us*2");
  ASSERT_EQ(flapping.size(), 4u);
  EXPECT_EQ(flapping[0].link, t.link_named("leaf1:up1"));
  EXPECT_EQ(flapping[0].share, 0.25);
  EXPECT_EQ(flapping[1].at, 60 * kMicrosecond);
  EXPECT_EQ(flapping[1].share, 1);
  EXPECT_EQ(flapping[2].at, 70 * kMicrosecond);
  EXPECT_EQ(flapping[3].at, 80 * kMicrosecond);
  EXPECT_EQ(parse_change(t, "leaf1:up1@50us")[0].share, 0);
  for (const char* const wrong :
       {"leaf1:up1", "leaf1:up1@5", "leaf1:up1=2@5us", "x@5us", "leaf1:up1@5us+1us*x",
        "leaf1:up1@5us+0us*3", "leaf1:up1@5us+1us*0", "leaf1:up1@5us+1us*4000000000",
        "leaf1:up1@5us+1000s*10000", "leaf1:up1@999999s+1s*2"}) {
    EXPECT_THROW(parse_change(t, wrong), TopologyError) << wrong;
  }
}

TEST(RunTest, ImpossibleRunsAreRefused) {
  RunPlan plan = plan_of("leafspine:2x2x2", one_flow(10));
  EXPECT_THROW(run(plan), TopologyError) << "16 hosts of traffic, 4 of topology";
  plan = plan_of("fattree:4", one_flow(10));
  plan.stack.congestion = "hope";
  EXPECT_THROW(run(plan), TopologyError);
  plan.stack.congestion = "tfc";
  plan.stack.window_bytes = 1;
  try {
    run(plan);
    ADD_FAILURE() << "a buffer of one octet";
  } catch (const TopologyError& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 46),
              "--window-bytes 1: with --cc tfc a packet needs");
  }
}

// [CMS-141] Rates down by rates up of a leaf: 8 hosts by 2 or 8 spines; 2 for a fat tree of four
// without half of its ways up. Without an upper tier nothing is oversubscribed.
TEST(FactsTest, OversubscriptionIsThatOfTheLeaves) {
  const auto of = [](const std::string& request) {
    const Topology topology = make_topology(request);
    return facts_of(topology, Routes(topology, 1), 4160).oversubscription;
  };
  EXPECT_EQ(of("leafspine:4x8x2"), 4u);
  EXPECT_EQ(of("leafspine:4x8x8"), 1u);
  EXPECT_EQ(of("fattree:4"), 1u);
  EXPECT_EQ(of("fattree:4,oversub=2"), 2u);
}

// [CMS-141] The tiers multiply: two leaves of two hosts below a switch that has one way up.
TEST(FactsTest, OversubscriptionIsThatOfAllTiers) {
  const auto of = [](uint64_t leaf_up_mbps, uint64_t middle_up_mbps) {
    Topology t;
    for (int host = 0; host < 4; ++host) t.add_host();
    const uint32_t leaves[] = {t.add_switch("leaf0", 0, 0), t.add_switch("leaf1", 0, 0)};
    const uint32_t middle = t.add_switch("agg0", 1, 0);
    const uint32_t top = t.add_switch("core0", 2, 0);
    for (uint32_t host = 0; host < 4; ++host) t.connect(host, leaves[host / 2], 100'000, 1000);
    for (const uint32_t leaf : leaves) t.connect(leaf, middle, leaf_up_mbps, 1000);
    t.connect(middle, top, middle_up_mbps, 1000);
    return facts_of(t, Routes(t, 1), 4160).oversubscription;
  };
  EXPECT_EQ(of(200'000, 400'000), 1u);
  EXPECT_EQ(of(200'000, 100'000), 4u) << "only above the leaves";
  EXPECT_EQ(of(100'000, 100'000), 4u) << "two and two";
  EXPECT_EQ(of(100'000, 400'000), 2u) << "more ways up than down do not help the leaves";
}

// Queues of some products have no more octets than 32 bits count.
TEST(FactsTest, QueuesOfTheLargestProductDoNotWrap) {
  NetworkFacts facts;
  facts.packet_bytes = 4096;
  facts.bdp_bytes = 1U << 31;
  EXPECT_EQ(switches_for(facts, false, "nscc").low_bytes, UINT32_MAX);
  EXPECT_EQ(switches_for(facts, true, "nscc").low_bytes, 1U << 31);
  EXPECT_EQ(switches_for(facts, true, "nscc").high_bytes, UINT32_MAX);
}

// 32 hosts under four leaves; each sends 1 MB to the one at its place under the next leaf.
RunResult shift(const std::string& request, const std::string& congestion) {
  Traffic traffic;
  traffic.hosts = 32;
  for (uint32_t i = 0; i < 32; ++i) {
    traffic.add(Flow{.from = i, .to = (i + 8) % 32, .bytes = 1'000'000});
  }
  return run(plan_of(request, std::move(traffic), congestion));
}

// [CMS-141] Receivers alone slow their sources down where the core, four times oversubscribed, cuts
// packets: it cuts fewer than one in ten.
TEST(RunTest, ReceiversHeedAnOversubscribedCore) {
  const RunResult r = shift("leafspine:4x8x2", "rccc");
  expect_conserved(r);
  EXPECT_GT(r.tally.trimmed, 0u);
  EXPECT_LT(r.tally.trimmed * 10, r.tally.sent);
}

// [CMS-145] Where the core carries all that hosts can send, credit alone is as fast as credit and
// windows together, and fewer than one packet in a hundred is cut.
TEST(RunTest, CreditAloneIsEnoughWhereTheCoreIsFull) {
  const RunResult alone = shift("leafspine:4x8x8", "rccc");
  const RunResult both = shift("leafspine:4x8x8", "both");
  ASSERT_TRUE(alone.is_finished && both.is_finished);
  EXPECT_LT(alone.tally.trimmed * 100, alone.tally.sent);
  EXPECT_LT(alone.end, both.end * 105 / 100);
}

// [CMS-126] A sender with eight receivers keeps its link busy: flows that wait for credit leave the
// port to the others, which ask for more. 8 MB and 64 octets of each packet take 650 us, and the
// last packets a round trip.
TEST(RunTest, CreditOfManyReceiversFillsOneLink) {
  for (const char* const congestion : {"rccc", "both"}) {
    SCOPED_TRACE(congestion);
    const RunResult r = run(plan_of("fattree:4", outcast({16, 1'000'000, 1}, 8, 0), congestion));
    ASSERT_TRUE(r.is_finished);
    const Picoseconds least = 8 * (1'000'000 + 245 * 64) * 80 + r.facts.base_rtt;
    EXPECT_LT(r.end * 93 / 100, least);
    expect_conserved(r);
  }
}

// [CMS-145] Where the core is congested the sender's window is needed, too: without it half as many
// packets again are cut, and more.
TEST(RunTest, CreditAloneCutsMoreInAnOversubscribedCore) {
  const RunResult alone = shift("leafspine:4x8x2", "rccc");
  const RunResult both = shift("leafspine:4x8x2", "both");
  ASSERT_TRUE(both.is_finished);
  EXPECT_GT(alone.tally.trimmed * 2, both.tally.trimmed * 3);
}

// [CMS-146, CMS-147] Eight senders with cells toward one host: where their allocations fit into the
// queue of the last switch, or switches pause senders that send too much, nothing is lost and
// nothing is sent twice, and the link stays full: 8 MB take 640 us, and 64 octets of each
// packet 10.
TEST(RunTest, AnIncastWithCellsLosesNothing) {
  for (const bool pfc : {false, true}) {
    SCOPED_TRACE(pfc);
    RunPlan plan = plan_of("fattree:4", incast({16, 1'000'000, 3}, 8, 0));
    plan.stack.congestion = "tfc";
    plan.stack.window_bytes = pfc ? 0 : 20'800;
    plan.switches.pfc = pfc;
    const RunResult r = run(plan);
    ASSERT_TRUE(r.is_finished);
    EXPECT_EQ(r.tally.trimmed, 0u);
    EXPECT_EQ(r.tally.dropped(), 0u);
    for (const auto& flow : r.flows) {
      EXPECT_FALSE(flow.failed);
      EXPECT_EQ(flow.resent, 0u);
    }
    EXPECT_LT(r.end, 1000 * kMicrosecond);
    expect_conserved(r);
  }
  // Allocations of 1.5 BDP do not fit.
  RunPlan plan = plan_of("fattree:4", incast({16, 1'000'000, 3}, 8, 0));
  plan.stack.congestion = "tfc";
  EXPECT_GT(run(plan).tally.trimmed, 0u);
}

}  // namespace
}  // namespace uet::sim::fabric
