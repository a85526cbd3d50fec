// Hosts with a port in each of two planes. [CMS-156]
#include "sim/fabric/generate.h"
#include "sim/fabric/run.h"
#include "sim/fabric/test/bench.h"

#include <gtest/gtest.h>

#include <string>

namespace uet::sim::fabric {
namespace {

constexpr uint32_t kPackets = 977;                         // of a flow of 4 MB
constexpr int64_t kAllOctets = 4'000'000 + kPackets * 64;  // on the wire
constexpr Picoseconds kOnOneLink = kAllOctets * 80;        // at 100 Gbit/s: 325 us

// One flow from host 0 to host 13, over all switches.
RunPlan one_flow(const std::string& change = "") {
  RunPlan plan;
  plan.topology = make_topology("fattree:4,planes=2");
  plan.traffic.hosts = 16;
  plan.traffic.add(Flow{.from = 0, .to = 13, .bytes = 4'000'000});
  const Routes routes(plan.topology, plan.seed);
  const NetworkFacts facts = facts_of(plan.topology, routes, plan.stack.mtu_bytes);
  plan.switches = switches_for(facts, true, plan.stack.congestion);
  if (!change.empty()) plan.changes = parse_change(plan.topology, change);
  return plan;
}

uint64_t octets_of(const RunPlan& plan, const RunResult& r, const char* link) {
  return r.ports[up_port(plan.topology.link_named(link))].sent_bytes;
}

// [CMS-156, CMS-045] The host chooses entropy values of the port that is free. So both ports are
// busy all the time, the window has the bandwidth-delay product of both, and the flow takes half of
// the time.
TEST(PlanesTest, OneFlowFillsBothPlanes) {
  for (const char* const balancing : {"mixed", "reps", "bitmap", "oblivious"}) {
    SCOPED_TRACE(balancing);
    RunPlan plan = one_flow();
    plan.stack.balancing = balancing;
    const RunResult r = run(plan);
    ASSERT_TRUE(r.is_finished);
    EXPECT_EQ(r.facts.planes, 2u);
    EXPECT_EQ(r.flows[0].resent, 0u);
    EXPECT_NEAR(static_cast<double>(octets_of(plan, r, "host0:up0")),
                static_cast<double>(octets_of(plan, r, "host0:up1")), 2 * 4160);
    EXPECT_LT(r.end, kOnOneLink / 2 + r.facts.base_rtt * 3 / 2);
  }
}

// [CMS-156] From 40 us on one plane is gone, at either end. Packets on the link are lost, and those
// on the way to the host in that plane; the rest takes the other plane, at its rate.
TEST(PlanesTest, AFailedPlaneLeavesTheOther) {
  for (const char* const link : {"host0:up1", "host13:up1"}) {
    SCOPED_TRACE(link);
    const RunPlan plan = one_flow(std::string(link) + "@40us");
    const RunResult r = run(plan);
    ASSERT_TRUE(r.is_finished);
    EXPECT_FALSE(r.flows[0].failed);
    EXPECT_GT(r.tally.dropped(), 0u);
    EXPECT_LE(r.tally.dropped(), 45u) << "a round trip of packets";
    // 40 us at the rate of a link, and a few control packets.
    EXPECT_LT(octets_of(plan, r, "host0:up1"), 505'000u);
    EXPECT_GT(octets_of(plan, r, "host0:up1"), 480'000u);
    EXPECT_GT(r.end, kOnOneLink - 40 * kMicrosecond);
    EXPECT_LT(r.end, kOnOneLink);
  }
}

// Without any port the host goes on sending, and packets are lost; when one is back, the flow ends.
TEST(PlanesTest, BothPlanesMayFailForAWhile) {
  RunPlan plan = one_flow("host0:up1@40us+100us");
  for (const LinkChange& change : parse_change(plan.topology, "host0:up0@50us+100us")) {
    plan.changes.push_back(change);
  }
  const RunResult r = run(plan);
  ASSERT_TRUE(r.is_finished);
  EXPECT_FALSE(r.flows[0].failed);
  EXPECT_LT(r.end, 1000 * kMicrosecond);
}

// [CMS-156] A packet leaves by the port of its entropy value, and the free ports are those that are
// up and serve no packet; when all are down packets may leave, and are lost.
TEST(PlanesTest, OnlyPortsThatAreUpAndIdleAreFree) {
  SwitchConfig config;
  config.deals_to_planes = true;
  Bench b("leafspine:2x2x2,planes=2", config);
  uint32_t planes = 0;
  EXPECT_EQ(b.fabric.host_free_at(0, 0, &planes), 0);
  EXPECT_EQ(planes, 0b11u);
  b.data(0, 2, 1, 0, /*ev=*/5);
  EXPECT_EQ(b.fabric.host_free_at(0, 0, &planes), 0);
  EXPECT_EQ(planes, 0b01u);
  b.data(0, 2, 2, 0, /*ev=*/4);
  EXPECT_EQ(b.fabric.host_free_at(0, 0, &planes), 332'800);
  EXPECT_EQ(planes, 0u);
  EXPECT_EQ(b.fabric.host_free_at(0, 332'800, &planes), 332'800);
  EXPECT_EQ(planes, 0b11u);
  const uint32_t up1 = b.topology.link_named("host0:up1");
  b.fabric.set_link(up1, 0, 332'800);
  EXPECT_EQ(b.fabric.host_free_at(0, 332'800, &planes), 332'800);
  EXPECT_EQ(planes, 0b01u);
  b.fabric.set_link(b.topology.link_named("host0:up0"), 0, 332'800);
  EXPECT_EQ(b.fabric.host_free_at(0, 332'800, &planes), 332'800);
  EXPECT_EQ(planes, 0b11u);
}

// A comparison transport knows no planes: a hash chooses the port.
TEST(PlanesTest, ModelsChooseByAHash) {
  RunPlan plan = one_flow();
  EXPECT_TRUE(plan.switches.deals_to_planes);
  plan.stack.congestion = "eqds";
  EXPECT_FALSE(switches_for(facts_of(plan.topology, Routes(plan.topology, 1), 4160), true, "eqds")
                   .deals_to_planes);
  EXPECT_FALSE(switches_for(facts_of(make_topology("fattree:4"),
                                     Routes(make_topology("fattree:4"), 1), 4160),
                            true, "nscc")
                   .deals_to_planes);
}

}  // namespace
}  // namespace uet::sim::fabric
