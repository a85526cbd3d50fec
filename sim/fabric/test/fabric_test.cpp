// Queues and cables; all times by hand. Links have 100 Gbit/s and 1 us.
#include "sim/fabric/test/bench.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

namespace uet::sim::fabric {
namespace {

TEST(MappedVectorTest, KeepsWhatItHoldsFromSmallToLarge) {
  MappedVector<uint64_t> all;
  for (uint64_t i = 0; i < 1'000'000; ++i) all.push_back(i);
  const MappedVector<uint64_t> copy = all;
  all.clear();
  all.shrink_to_fit();
  for (uint64_t i = 0; i < copy.size(); ++i) ASSERT_EQ(copy[i], i);
}

TEST(FabricTest, APacketTakesTheTimeOfSixCablesThroughThreeTiers) {
  Bench b("fattree:4");
  b.data(0, 13);
  b.run();
  ASSERT_EQ(b.arrived.size(), 1u);
  EXPECT_EQ(b.arrived[0].host, 13u);
  EXPECT_EQ(b.arrived[0].at, 6 * (332'800 + kMicrosecond));
  EXPECT_EQ(b.fabric.tally().hops, 6u);
  const Picoseconds begun = 50 * kMicrosecond;
  b.control(13, 0, 0, begun);
  b.run();
  EXPECT_EQ(b.arrived[1].at - begun, 6 * (5'120 + kMicrosecond));
  EXPECT_TRUE(b.nothing_is_lost());
}

TEST(FabricTest, SwitchesTakeTheirTimeToo) {
  Bench b("leafspine:2x1x1,switch=100ns,gbps=400");
  b.data(0, 1);
  b.run();
  EXPECT_EQ(b.arrived.at(0).at, 4 * (83'200 + kMicrosecond) + 3 * 100 * kNanosecond);
}

// [CMS-188, CMS-189] Strict priority. At the host the first data packet is in service already. At
// the leaf the control packet arrives behind it and waits for its end.
TEST(FabricTest, ControlPacketsGoBeforeWaitingData) {
  Bench b("leafspine:1x2x1");
  b.data(0, 1, 1);
  b.data(0, 1, 2);
  b.control(0, 1, 3);
  b.run();
  ASSERT_EQ(b.arrived.size(), 3u);
  EXPECT_EQ(b.arrived[0].mark, 1u);
  EXPECT_EQ(b.arrived[0].at, 2'665'600);
  EXPECT_EQ(b.arrived[1].mark, 3u);
  EXPECT_EQ(b.arrived[1].at, 2'670'720);
  EXPECT_EQ(b.arrived[2].mark, 2u);
  EXPECT_EQ(b.arrived[2].at, 3'003'520);
}

// [CMS-181] Ten packets come at once; when the i-th leaves, 10 - i are behind it. With thresholds
// of two and six packets none is marked with up to 2 behind it, 1/4, 1/2 and 3/4 of those with 3, 4
// and 5, and all above.
TEST(FabricTest, MarksAreLinearBetweenTheThresholds) {
  SwitchConfig config;
  config.low_bytes = 20 * kFull;
  config.ecn_low = 2 * kFull;
  config.ecn_high = 6 * kFull;
  std::array<uint32_t, 10> marked{};  // by the queue behind
  constexpr uint32_t kRuns = 400;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    Bench b("leafspine:1x11x1", config, seed);
    for (uint32_t host = 0; host < 10; ++host) b.data(host, 10);
    b.run();
    ASSERT_EQ(b.arrived.size(), 10u);
    for (size_t i = 0; i < 10; ++i) {
      if (b.arrived[i].packet.ecn == Ecn::ce) ++marked[9 - i];
    }
  }
  for (const uint32_t behind : {0, 1, 2}) EXPECT_EQ(marked[behind], 0u) << behind;
  for (const uint32_t behind : {6, 7, 8, 9}) EXPECT_EQ(marked[behind], kRuns) << behind;
  EXPECT_NEAR(marked[3], kRuns / 4, 40);  // four standard deviations
  EXPECT_NEAR(marked[4], kRuns / 2, 40);
  EXPECT_NEAR(marked[5], kRuns * 3 / 4, 40);
}

// [CMS-182] One threshold instead of two: of ten that come at once those are marked that leave more
// than five behind.
TEST(FabricTest, MarksCanHaveOneThreshold) {
  SwitchConfig config;
  config.low_bytes = 20 * kFull;
  config.ecn_low = config.ecn_high = 5 * kFull;
  Bench b("leafspine:1x11x1", config);
  for (uint32_t host = 0; host < 10; ++host) b.data(host, 10);
  b.run();
  ASSERT_EQ(b.arrived.size(), 10u);
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(b.arrived[i].packet.ecn == Ecn::ce, 9 - i > 5) << i;
  }
}

// [CMS-184] Nothing is marked where it faces the host, and never what cannot be.
TEST(FabricTest, MarksCanBeOffAtTheLastHop) {
  SwitchConfig config;
  config.ecn_low = 1;
  config.ecn_high = kFull;
  const auto marks = [&](Ecn ecn) {
    Bench b("leafspine:1x11x1", config);
    b.ecn = ecn;
    for (uint32_t host = 0; host < 10; ++host) b.data(host, 10);
    b.run();
    return b.fabric.tally().marked;
  };
  EXPECT_EQ(marks(Ecn::ect0), 9u) << "all but the last one";
  EXPECT_EQ(marks(Ecn::not_ect), 0u);
  config.ecn_last_hop = false;
  EXPECT_EQ(marks(Ecn::ect0), 0u);
}

// [CMS-165, CMS-166, CMS-175, CMS-183] Ten come at once to a queue of four: one in service, three
// behind it. Six are trimmed to 64 octets, of which 18 are the UET header, and overtake data on the
// way to their destination. None of these is marked, however much data waits.
TEST(FabricTest, PacketsThatDoNotFitAreTrimmedAndGoFirst) {
  SwitchConfig config;
  config.low_bytes = 4 * kFull;
  config.ecn_low = 1;
  config.ecn_high = kFull;
  Bench b("leafspine:1x11x1", config);
  for (uint32_t host = 0; host < 10; ++host) b.data(host, 10, host);
  b.run();
  ASSERT_EQ(b.arrived.size(), 10u);
  EXPECT_EQ(b.count(18), 6u) << "by the switch that faces the host";
  EXPECT_EQ(b.fabric.tally().trimmed, 6u);
  EXPECT_EQ(b.arrived[0].packet.wire_bytes, kFull);
  for (uint32_t i = 1; i <= 6; ++i) {
    const Packet& p = b.arrived[i].packet;
    EXPECT_EQ(b.arrived[i].host, 10u);
    EXPECT_EQ(p.dscp, 18u);
    EXPECT_EQ(p.ecn, Ecn::ect0);
    EXPECT_EQ(p.wire_bytes, 64u);
    EXPECT_EQ(p.payload_bytes, 0u);
    EXPECT_EQ(p.header_bytes, 18u);
    EXPECT_EQ(b.arrived[i].at, 2'665'600 + i * 5'120);
    EXPECT_EQ(b.fabric.trimmed()[b.arrived[i].mark], 1u);
  }
  EXPECT_EQ(b.arrived[9].at, 2'665'600 + 6 * 5'120 + 3 * 332'800);
}

// [CMS-165, CMS-174]
TEST(FabricTest, PacketsTrimmedInTheCoreAreMarkedSo) {
  SwitchConfig config;
  config.low_bytes = 2 * kFull;
  Bench b("leafspine:2x4x1", config);
  for (uint32_t host = 0; host < 4; ++host) b.data(host, 4 + host);
  b.run();
  EXPECT_EQ(b.count(16), 2u);
  EXPECT_EQ(b.count(8), 2u);
}

// [CMS-170] The one that arrives or the last in the queue is cut: over many runs both happen.
TEST(FabricTest, TheCutPacketIsTheNewOneOrTheLastInTheQueue) {
  SwitchConfig config;
  config.low_bytes = 2 * kFull;
  std::set<uint32_t> cut;
  for (uint64_t seed = 1; seed < 40; ++seed) {
    Bench b("leafspine:1x4x1", config, seed);
    b.data(0, 3, 0, 0);
    b.data(1, 3, 1, 10);  // waits
    b.data(2, 3, 2, 20);  // finds the queue full
    b.run();
    ASSERT_EQ(b.count(18), 1u);
    for (const Bench::Arrived& a : b.arrived) {
      if (a.packet.dscp == 18) cut.insert(a.mark);
    }
  }
  EXPECT_EQ(cut, (std::set<uint32_t>{1, 2}));
}

TEST(FabricTest, PacketsThatCannotBeTrimmedAreDropped) {
  SwitchConfig config;
  config.low_bytes = 4 * kFull;
  for (const bool by_switch : {false, true}) {
    config.trimming = !by_switch;
    Bench b("leafspine:1x11x1", config);
    b.is_trimmable = by_switch;
    for (uint32_t host = 0; host < 10; ++host) b.data(host, 10);
    b.run();
    EXPECT_EQ(b.arrived.size(), 4u);
    EXPECT_EQ(b.fabric.tally().queue_dropped, 6u);
    EXPECT_TRUE(b.nothing_is_lost());
  }
}

// [CMS-165, CMS-186] A cut packet that has no room either is lost.
TEST(FabricTest, TheHigherClassHasAnEndToo) {
  SwitchConfig config;
  config.low_bytes = 4 * kFull;
  config.high_bytes = 2 * kSmall;
  Bench b("leafspine:1x11x1", config);
  for (uint32_t host = 0; host < 10; ++host) b.data(host, 10);
  b.run();
  EXPECT_EQ(b.count(18), 2u);
  EXPECT_EQ(b.fabric.tally().queue_dropped, 4u);
  EXPECT_TRUE(b.nothing_is_lost());
}

// Two ports of one switch share room for six packets; five come for each.
TEST(FabricTest, PortsOfASwitchShareItsBuffer) {
  SwitchConfig config;
  config.trimming = false;
  config.buffer_bytes = 6 * kFull;
  Bench b("leafspine:1x12x1", config);
  for (uint32_t host = 0; host < 10; ++host) b.data(host, 10 + host % 2);
  b.run();
  EXPECT_EQ(b.arrived.size(), 6u);
  EXPECT_EQ(b.fabric.tally().queue_dropped, 4u);
  b.data(0, 11, 0, 100 * kMicrosecond);
  b.run();
  EXPECT_EQ(b.arrived.size(), 7u) << "the buffer is empty again";
}

TEST(FabricTest, FlowControlLosesNothing) {
  SwitchConfig config;
  config.trimming = false;
  config.low_bytes = 8 * kFull;
  config.pfc_off = 8 * kFull;
  config.pfc_on = 4 * kFull;
  for (const bool pfc : {false, true}) {
    config.pfc = pfc;
    Bench b("leafspine:2x8x4", config);
    for (uint32_t i = 0; i < 60; ++i) {
      for (uint32_t host = 1; host < 9; ++host) b.data(host, 0, 0, 0, static_cast<uint16_t>(i));
    }
    b.run();
    EXPECT_EQ(b.arrived.size() == 480, pfc);
    EXPECT_EQ(b.fabric.tally().pauses > 0, pfc);
    EXPECT_TRUE(b.nothing_is_lost());
    if (!pfc) continue;
    // 480 packets through one link without a gap, after the first has come to it.
    EXPECT_EQ(b.arrived.back().at, 332'800 + kMicrosecond + 480 * 332'800 + kMicrosecond);
  }
}

// The link to host 2 has half the rate, so a queue grows by a packet each 665.6 ns. The sixth one
// is the fourth in the switch: the host stops a cable later, with 13 packets sent. When the twelfth
// has left, at 25 packet times and a cable, one is left: the host goes on a cable later.
TEST(FabricTest, FlowControlResumesACableBehindTheQueue) {
  constexpr Picoseconds kTime = 332'800;
  SwitchConfig config;
  config.pfc = true;
  config.pfc_off = 3 * kFull;
  config.pfc_on = kFull;
  Bench b("leafspine:1x4x1", config);
  b.fabric.set_link(b.topology.link_named("leaf0:down2"), 0.5, 0);
  for (uint32_t i = 0; i < 20; ++i) b.data(0, 2, i);
  b.run();
  ASSERT_EQ(b.arrived.size(), 20u);
  EXPECT_EQ(b.arrived[12].at, 27 * kTime + 2 * kMicrosecond);
  EXPECT_EQ(b.arrived[13].at, 28 * kTime + 4 * kMicrosecond);
}

// The spine that has 3 packets in its queue already is left alone.
TEST(FabricTest, AdaptiveSwitchesTakeTheShortestQueue) {
  SwitchConfig config;
  config.adaptive = true;
  Bench b("leafspine:2x8x8", config);
  for (uint32_t host = 0; host < 8; ++host) b.data(host, 8 + host);
  b.run();
  for (const Bench::Arrived& a : b.arrived) {
    EXPECT_EQ(a.at, 4 * (332'800 + kMicrosecond)) << "no packet has waited for another";
  }
}

TEST(FabricTest, AFailedLinkLosesItsPacketsAndIsAvoided) {
  Bench b("leafspine:2x2x2");
  const uint32_t failed = b.topology.link_named("leaf0:up0");
  for (uint16_t ev = 0; ev < 100; ++ev) b.data(0, 3, 0, 0, ev);
  b.run(10 * kMicrosecond);
  EXPECT_TRUE(b.nothing_is_lost());
  b.fabric.set_link(failed, 0, 10 * kMicrosecond);
  EXPECT_TRUE(b.nothing_is_lost());
  b.run();
  // A cable of 1 us holds three packets, and about every second one is for this one.
  const uint64_t lost = b.fabric.tally().link_dropped;
  EXPECT_GE(lost, 1u);
  EXPECT_LE(lost, 4u) << "the leaf knows about its own link at once";
  EXPECT_EQ(b.arrived.size(), 100 - lost);
  EXPECT_TRUE(b.nothing_is_lost());
}

// The other leaf learns of it only with new routes: the spine has no other path.
TEST(FabricTest, AFarFailureIsFatalUntilRoutesAreNew) {
  Bench b("leafspine:2x2x2");
  b.fabric.set_link(b.topology.link_named("leaf1:up0"), 0, 0);
  for (uint16_t ev = 0; ev < 64; ++ev) b.data(0, 3, 0, kMicrosecond, ev);
  b.run();
  const uint64_t lost = b.fabric.tally().link_dropped;
  EXPECT_GT(lost, 16u);
  EXPECT_LT(lost, 48u);
  b.fabric.reroute();
  for (uint16_t ev = 0; ev < 64; ++ev) b.data(0, 3, 0, 100 * kMicrosecond, ev);
  b.run();
  EXPECT_EQ(b.fabric.tally().link_dropped, lost);
  EXPECT_EQ(b.arrived.size(), 128 - lost);
  b.fabric.set_link(b.topology.link_named("leaf1:up1"), 0, 200 * kMicrosecond);
  b.fabric.reroute();
  b.data(0, 3, 0, 200 * kMicrosecond);
  b.run();
  EXPECT_EQ(b.fabric.tally().route_dropped, 1u);
  EXPECT_TRUE(b.nothing_is_lost());
}

TEST(FabricTest, ASlowLinkTakesLongerAndAMendedOneDoesNot) {
  Bench b("leafspine:2x1x1");
  const uint32_t slow = b.topology.link_named("leaf0:up0");
  b.fabric.set_link(slow, 0.25, 0);
  b.data(0, 1);
  b.run();
  EXPECT_EQ(b.arrived[0].at, 4 * (332'800 + kMicrosecond) + 3 * 332'800);
  b.fabric.set_link(slow, 1, 50 * kMicrosecond);
  b.data(0, 1, 0, 50 * kMicrosecond);
  b.run();
  EXPECT_EQ(b.arrived[1].at - 50 * kMicrosecond, 4 * (332'800 + kMicrosecond));
}

TEST(FabricTest, AHostMaySendWhenItsPortIsFree) {
  Bench b("leafspine:1x2x1");
  EXPECT_EQ(b.fabric.host_free_at(0, 1000), 1000);
  b.data(0, 1, 0, 1000);
  EXPECT_EQ(b.fabric.host_free_at(0, 2000), 1000 + 332'800);
  b.run(200 * kMicrosecond);
  EXPECT_EQ(b.fabric.host_free_at(0, 200 * kMicrosecond), 200 * kMicrosecond);
}

}  // namespace
}  // namespace uet::sim::fabric
