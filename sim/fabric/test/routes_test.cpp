// Ways through a topology.
#include "sim/fabric/routes.h"
#include "sim/fabric/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace uet::sim::fabric {
namespace {

uint32_t end_of(const Topology& t, uint32_t port) {
  const Link& link = t.links()[port / 2];
  return port % 2 == 0 ? link.upper : link.lower;
}

// The ports that a packet with that hash takes; empty: it does not arrive.
std::vector<uint32_t> way(const Topology& t, const Routes& routes, uint32_t from, uint32_t to,
                          uint64_t hash) {
  std::vector<uint32_t> out;
  for (uint32_t node = from; node != to;) {
    const auto ports = routes.next_ports(node, to);
    if (ports.empty() || out.size() > 20) return {};
    const auto count = static_cast<uint32_t>(ports.size());
    out.push_back(ports[routes.choice(node, hash, count)]);
    node = end_of(t, out.back());
  }
  return out;
}

TEST(RoutesTest, EveryHostReachesEveryOtherOnAShortestPath) {
  const Topology t = make_topology("fattree:4");
  const Routes routes(t, 1);
  for (uint32_t from = 0; from < t.hosts(); ++from) {
    for (uint32_t to = 0; to < t.hosts(); ++to) {
      if (from == to) continue;
      // Two hosts under a leaf, four in a pod.
      const size_t links = from / 2 == to / 2 ? 2 : from / 4 == to / 4 ? 4 : 6;
      EXPECT_EQ(way(t, routes, from, to, from * 77 + to).size(), links) << from << " to " << to;
    }
  }
  EXPECT_EQ(routes.diameter_links(), 6u);
  EXPECT_EQ(routes.diameter_latency(), 6 * kMicrosecond);
}

TEST(RoutesTest, TheLatencyOfSwitchesCounts) {
  EXPECT_EQ(Routes(make_topology("leafspine:2x2x2,switch=100ns"), 1).diameter_latency(),
            4 * kMicrosecond + 300 * kNanosecond);
}

// Eight uplinks of a leaf and eight of each aggregation switch: 64 cores. 6,400 packets; each core
// gets about 100 of them, 150 being five standard deviations away.
TEST(RoutesTest, EntropySpreadsOverAllPaths) {
  const Topology t = make_topology("fattree:16");
  const Routes routes(t, 5);
  std::map<uint32_t, uint32_t> cores;
  for (uint64_t ev = 0; ev < 6400; ++ev) {
    const auto ports = way(t, routes, 3, 900, hash64(ev, 17));
    ASSERT_EQ(ports.size(), 6u);
    ++cores[end_of(t, ports[2])];
  }
  EXPECT_EQ(cores.size(), 64u);
  for (const auto& [core, packets] : cores) {
    EXPECT_GT(packets, 50u) << t.name(core);
    EXPECT_LT(packets, 150u) << t.name(core);
  }
}

TEST(RoutesTest, OneEntropyValueIsOnePath) {
  const Topology t = make_topology("fattree:8");
  const Routes routes(t, 5);
  std::set<std::vector<uint32_t>> ways;
  for (uint64_t ev = 0; ev < 8; ++ev) {
    const uint64_t hash = hash64(ev, 17);
    EXPECT_EQ(way(t, routes, 3, 100, hash), way(t, routes, 3, 100, hash));
    ways.insert(way(t, routes, 3, 100, hash));
  }
  EXPECT_GT(ways.size(), 4u) << "of 16";
}

// A switch that would hash as the one below it could use only some of its links.
TEST(RoutesTest, SwitchesHashIndependently) {
  const Topology t = make_topology("fattree:8");
  const Routes routes(t, 5);
  std::set<uint32_t> next;
  uint32_t taken = 0;
  for (uint64_t ev = 0; ev < 1000; ++ev) {
    const auto ports = way(t, routes, 3, 100, hash64(ev, 17));
    if (ports[1] != way(t, routes, 3, 100, hash64(0, 17))[1]) continue;
    next.insert(ports[2]);
    ++taken;
  }
  EXPECT_GT(taken, 150u);
  EXPECT_EQ(next.size(), 4u);
}

TEST(RoutesTest, AFailedLinkIsOnNoWay) {
  const Topology t = make_topology("leafspine:4x4x4");
  Routes routes(t, 1);
  std::vector<bool> up(t.links().size(), true);
  const uint32_t failed = t.link_named("leaf0:up1");
  up[failed] = false;
  routes.build(up);
  std::set<uint32_t> spines;
  for (uint64_t ev = 0; ev < 200; ++ev) {
    for (const bool is_back : {false, true}) {
      const auto ports = way(t, routes, is_back ? 15 : 0, is_back ? 0 : 15, hash64(ev, 3));
      ASSERT_EQ(ports.size(), 4u);
      for (const uint32_t port : ports) ASSERT_NE(port / 2, failed);
      spines.insert(end_of(t, ports[1]));
    }
  }
  EXPECT_EQ(spines.size(), 3u);
  up[t.link_named("leaf0:up0")] = up[t.link_named("leaf0:up2")] = false;
  up[t.link_named("leaf0:up3")] = false;
  routes.build(up);
  EXPECT_TRUE(way(t, routes, 0, 15, 9).empty());
  EXPECT_EQ(way(t, routes, 0, 3, 9).size(), 2u) << "the same leaf";
}

TEST(RoutesTest, AHostOfTwoPlanesUsesBothAndOneAfterAFailure) {
  const Topology t = make_topology("leafspine:2x2x2,planes=2");
  Routes routes(t, 1);
  std::set<uint32_t> first;
  for (uint64_t ev = 0; ev < 50; ++ev) {
    const auto ports = way(t, routes, 0, 3, hash64(ev, 3));
    ASSERT_EQ(ports.size(), 4u);
    first.insert(ports[0]);
  }
  EXPECT_EQ(first.size(), 2u);
  std::vector<bool> up(t.links().size(), true);
  up[t.link_named("host3:up0")] = false;  // of the destination
  routes.build(up);
  for (uint64_t ev = 0; ev < 50; ++ev) {
    const auto ports = way(t, routes, 0, 3, hash64(ev, 3));
    ASSERT_EQ(ports.size(), 4u);
    EXPECT_EQ(ports[0], up_port(t.link_named("host0:up1")));
  }
}

TEST(RoutesTest, RailsAndNodesCarryTheirLocalTraffic) {
  const Topology t = make_topology("rail:4x4");
  const Routes routes(t, 1);
  const auto names = [&](uint32_t from, uint32_t to) {
    std::string out;
    for (const uint32_t port : way(t, routes, from, to, 7)) out += t.name(end_of(t, port)) + " ";
    return out;
  };
  EXPECT_EQ(names(1, 13), "rail1 host13 ");
  EXPECT_EQ(names(1, 3), "node0 host3 ");
  EXPECT_EQ(way(t, routes, 1, 14, 7).size(), 4u) << "by a spine from rail 1 to rail 2";
}

// Without spines another rail is reached through the card of a neighbour, at either end.
TEST(RoutesTest, WithoutSpinesANodeJoinsTheRails) {
  const Topology t = make_topology("railonly:4x4");
  const Routes routes(t, 1);
  std::set<size_t> lengths;
  std::set<uint32_t> rails;
  for (uint64_t ev = 0; ev < 50; ++ev) {
    const auto ports = way(t, routes, 1, 14, hash64(ev, 3));
    lengths.insert(ports.size());
    for (const uint32_t port : ports) {
      if (t.name(end_of(t, port)).starts_with("rail")) rails.insert(end_of(t, port));
    }
  }
  EXPECT_EQ(lengths, std::set<size_t>{5});
  EXPECT_EQ(rails.size(), 2u) << "rail 1 or rail 2";
  EXPECT_EQ(way(t, routes, 1, 13, 7).size(), 4u) << "card, rail, card, host";
}

}  // namespace
}  // namespace uet::sim::fabric
