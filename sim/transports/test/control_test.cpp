// The laws of windows and rates, against numbers by hand.
#include "sim/transports/dcqcn.h"
#include "sim/transports/hpcc.h"
#include "sim/transports/srd.h"
#include "sim/transports/swift.h"
#include "sim/transports/test/pair.h"

#include <gtest/gtest.h>

#include <cmath>

namespace uet::sim::transports {
namespace {

// [Zhu 2015, figure 7] alpha is 1 at first: the first notification halves the rate. The second one
// comes with alpha = 1 still: (1 - g) 1 + g.
TEST(DcqcnLawTest, ANotificationHalvesTheRate) {
  Dcqcn control({}, network_100g());
  EXPECT_DOUBLE_EQ(control.rate_mbps(), 100'000);
  control.on_cnp(0);
  EXPECT_DOUBLE_EQ(control.rate_mbps(), 50'000);
  control.on_cnp(kMicrosecond);
  EXPECT_DOUBLE_EQ(control.rate_mbps(), 25'000);
}

// Five halvings of the distance to the rate before, 55 us each, then 40 Mbit/s more each time.
TEST(DcqcnLawTest, RecoveryIsFastAndThenAdditive) {
  Dcqcn control({}, network_100g());
  control.on_cnp(0);
  for (int i = 1; i <= 5; ++i) control.on_deadline(i * 55 * kMicrosecond);
  EXPECT_DOUBLE_EQ(control.rate_mbps(), 100'000 - 50'000 / 32.0);
  control.on_cnp(300 * kMicrosecond);  // alpha has fallen five times
  const double alpha =
      (255.0 / 256) * (255.0 / 256) * (255.0 / 256) * (255.0 / 256) * (255.0 / 256);
  const double before = 98'437.5, low = before * (1 - alpha / 2);
  EXPECT_NEAR(control.rate_mbps(), low, 1e-6);
  double rate = low;
  for (int i = 1; i <= 5; ++i) {
    control.on_deadline((300 + i * 55) * kMicrosecond);
    rate = (rate + before) / 2;
  }
  EXPECT_NEAR(control.rate_mbps(), rate, 1e-6);
  control.on_deadline((300 + 6 * 55) * kMicrosecond);
  EXPECT_NEAR(control.rate_mbps(), (rate + before + 40) / 2, 1e-6);
}

// Octets do what the timer does. With both above five the target grows by 400 Mbit/s.
TEST(DcqcnLawTest, OctetsAndTimeTogetherMakeItGrowFast) {
  DcqcnConstants constants;
  constants.increase_bytes = 1000;
  Dcqcn control(constants, network_100g());
  control.on_cnp(0);
  control.on_cnp(1);                                     // 25,000; target 50,000
  for (int i = 0; i < 6; ++i) control.on_sent(1000, 2);  // the sixth adds 40
  double rate = 25'000;
  for (int i = 0; i < 5; ++i) rate = (rate + 50'000) / 2;
  rate = (rate + 50'040) / 2;
  EXPECT_NEAR(control.rate_mbps(), rate, 1e-6);
  for (int i = 1; i <= 5; ++i) control.on_deadline(i * 56 * kMicrosecond);  // 40 more each
  double target = 50'040;
  for (int i = 0; i < 5; ++i) rate = (rate + (target += 40)) / 2;
  EXPECT_NEAR(control.rate_mbps(), rate, 1e-6);
  control.on_deadline(6 * 56 * kMicrosecond);
  EXPECT_NEAR(control.rate_mbps(), (rate + target + 400) / 2, 1e-6);
}

Telemetry one_hop(Picoseconds at, uint64_t sent_bytes, uint32_t queued_bytes) {
  Telemetry out;
  out.hops[0] = {at, sent_bytes, queued_bytes, 100'000};
  out.count = 1;
  return out;
}

// T = 10 us at 100 Gbit/s: a window of 125,000 octets. In 10 us the link sends 125,000 octets and
// 62,500 wait: U = 1 + 0.5. W = 125,000 / (1.5 / 0.95) + W_AI, where W_AI = 125,000 x 0.05 / 100.
TEST(HpccLawTest, TheWindowFollowsTheBusiestLink) {
  HpccConstants constants;
  constants.rtt_us = 10;
  Hpcc control(constants, network_100g());
  const double packet = 4160;
  EXPECT_NEAR(control.window_packets() * packet, 125'000, 1e-6);
  const Telemetry first = one_hop(0, 0, 62'500), second = one_hop(10'000'000, 125'000, 70'000);
  control.on_ack({0, 1, 0, 30, false, &first}, 0);  // nothing to compare with: U stays 0.95
  EXPECT_NEAR(control.window_packets() * packet, 125'000, 1e-6);
  control.on_ack({0, 1, 1, 31, false, &second}, 0);
  EXPECT_NEAR(control.window_packets() * packet, 125'000 * 0.95 / 1.5 + 62.5, 1e-3);
  EXPECT_NEAR(control.rate_mbps(), (125'000 * 0.95 / 1.5 + 62.5) * 8 / 10, 1e-2);
}

// Within a round trip every ACK reckons from the same reference, so two of them are not two cuts.
TEST(HpccLawTest, ARoundHasOneReference) {
  HpccConstants constants;
  constants.rtt_us = 10;
  Hpcc control(constants, network_100g());
  Telemetry seen = one_hop(0, 0, 62'500);
  control.on_ack({0, 1, 0, 30, false, &seen}, 0);  // the round ends with packet 30
  for (int i = 1; i <= 5; ++i) {
    seen = one_hop(i * 10'000'000, static_cast<uint64_t>(i) * 125'000, 62'500);
    control.on_ack({0, 1, static_cast<uint32_t>(i), 30, false, &seen}, 0);
  }
  EXPECT_NEAR(control.window_packets() * 4160, 125'000 * 0.95 / 1.5 + 62.5, 1e-3);
}

// 20 us and 6 cables of 1 us. With 100 packets nothing is added, with 0.1 all of 100 us, and with
// 25 packets 100 (1/5 - 1/10) / (1/sqrt(0.1) - 1/10) us.
TEST(SwiftLawTest, TheTargetGrowsForSmallWindows) {
  SwiftConstants constants;
  constants.first_window = 100;
  EXPECT_EQ(Swift(constants, network_100g(), 6).target(), 26 * kMicrosecond);
  constants.first_window = 0.1;
  EXPECT_EQ(Swift(constants, network_100g(), 6).target(), 126 * kMicrosecond);
  constants.first_window = 25;
  const double added = 100 * 0.1 / (std::sqrt(10.0) - 0.1);
  EXPECT_NEAR(static_cast<double>(Swift(constants, network_100g(), 6).target()), (26 + added) * 1e6,
              2);
}

// One packet in a round trip below the target; above it by half of the delay 1 - 0.8 / 2; and never
// twice within a round trip.
TEST(SwiftLawTest, TheWindowRisesAndFallsByDelay) {
  SwiftConstants constants;
  constants.first_window = 100;
  Swift control(constants, network_100g(), 6);
  AckNews news;
  news.packets = 1;
  news.rtt = 25 * kMicrosecond;
  control.on_ack(news, 100 * kMicrosecond);
  EXPECT_DOUBLE_EQ(control.window_packets(), 100.01);
  news.rtt = 52 * kMicrosecond;
  control.on_ack(news, 200 * kMicrosecond);
  EXPECT_DOUBLE_EQ(control.window_packets(), 100.01 * 0.6);
  control.on_ack(news, 201 * kMicrosecond);
  EXPECT_DOUBLE_EQ(control.window_packets(), 100.01 * 0.6);
  control.on_loss(300 * kMicrosecond);
  EXPECT_DOUBLE_EQ(control.window_packets(), 100.01 * 0.3);
}

// Rates of SRD in packets of a base round trip, which is the unit of time, too.
struct SrdLawTest : testing::Test {
  Network network = network_100g();
  Srd control{{}, network};

  double rate() const { return control.rate_mbps() * 14.02752 / (4160 * 8); }
  void ack(double sent_at, double at) {
    AckNews news;
    news.packets = 1;
    news.rtt = static_cast<Picoseconds>((at - sent_at) * 14'027'520);
    control.on_ack(news, static_cast<Picoseconds>(at * 14'027'520));
  }
  void send(int packets) {
    for (int i = 0; i < packets; ++i) control.on_sent(4160, 0);
  }
};

// Two packets at first, and 1.5 round trips of the rate in flight. Four ACKs that come as the
// packets left double both; a flow that sent less gets twice what it sent.
TEST_F(SrdLawTest, TheRateDoublesWhileNothingQueues) {
  EXPECT_NEAR(rate(), 2, 1e-9);
  EXPECT_NEAR(control.window_packets(), 3, 1e-9);
  send(6);
  for (int i = 0; i < 4; ++i) ack(i * 0.5, 1 + i * 0.5);
  EXPECT_NEAR(rate(), 4, 1e-6);
  EXPECT_NEAR(control.window_packets(), 6, 1e-6);
  send(5);
  for (int i = 0; i < 4; ++i) ack(2.5 + i * 0.25, 3.5 + i * 0.5);  // at 5: five sent in 2.5
  EXPECT_NEAR(rate(), 4, 1e-6);
}

// Three of four ACKs are a round trip above the least one: the rate falls to 1.5 of their mean.
// Four of eight are not most of them.
TEST_F(SrdLawTest, TheRateFallsWhenMostPathsAreSlow) {
  control.on_loss(0);
  EXPECT_NEAR(rate(), 1, 1e-9);
  ack(0, 1);
  for (int i = 1; i < 4; ++i) ack(i, i + 2);
  EXPECT_NEAR(rate(), 1.5 / 1.75, 1e-6);
  send(10);
  for (int i = 0; i < 3; ++i) ack(4.5 + i * 0.1, 5.5 + i * 0.1);
  for (int i = 0; i < 4; ++i) ack(4 + i * 0.1, 6 + i * 0.1);
  ack(5.5, 6.5);
  EXPECT_GT(rate(), 1.5 / 1.75);
}

// ACKs come at half the rate at which the packets left, and no round trip is long yet: the share of
// the path is the rate of the ACKs, 4 packets in a round trip.
TEST_F(SrdLawTest, TheRateFallsToThatOfTheAcks) {
  send(100);
  for (int i = 0; i < 4; ++i) ack(i * 0.5, 1 + i * 0.5);
  send(100);
  for (int i = 0; i < 4; ++i) ack(2.5 + i * 0.25, 3.5 + i * 0.25);
  ASSERT_NEAR(rate(), 8, 1e-6);
  const double began = 4.25;
  for (int i = 0; i < 7; ++i) ack(began - 0.875 + i * 0.125, 5 + i * 0.25);
  EXPECT_NEAR(rate(), 8, 1e-6);
  ack(began, 6.75);
  EXPECT_NEAR(rate(), 4 * (1 + 0.5) / ((1.625 + 2.5) / 2), 1e-6);
}

// Losses of one queue count once, and that queue has been counted when ACKs were slow.
TEST_F(SrdLawTest, ALossHalvesTheRateOnceInTwoRoundTrips) {
  control.on_loss(0);
  control.on_loss(network.base_rtt);
  EXPECT_NEAR(rate(), 1, 1e-9);
  control.on_loss(2 * network.base_rtt);
  EXPECT_NEAR(rate(), 0.5, 1e-9);
  EXPECT_EQ(control.window_packets(), 1);
}

}  // namespace
}  // namespace uet::sim::transports
