// The goals for goodput under loss. Time is simulated and the seeds are fixed, so a figure changes
// only with the code. [PDS 12]
#include "tools/perf/loss.h"

#include <gtest/gtest.h>

namespace uet::perf {
namespace {

// Packets of 4 KiB, a window of 256, 20 us, 100 Gb/s: 62 packets are on their way at a time.
LossFigure run(double loss, uint64_t seed, uint32_t pdcs_per_key = 4) {
  fep::Config config;
  config.cms = cms::Config::software();
  config.pds.tx_window_packets = 256;
  config.pds.pdcs_per_key = pdcs_per_key;
  LossPlan plan;
  plan.loss = loss;
  plan.seed = seed;
  plan.measured = Duration::milliseconds(10);
  return goodput(config, plan);
}

class LossGoodputTest : public ::testing::TestWithParam<uint64_t> {};

// One per cent of random loss costs at most a tenth, five per cent at most three tenths.
TEST_P(LossGoodputTest, StaysNearTheLosslessFigure) {
  const double lossless = run(0, GetParam()).goodput_gbps;
  EXPECT_GT(lossless, 95) << "of 100 Gb/s";
  const LossFigure one = run(0.01, GetParam());
  EXPECT_GE(one.goodput_gbps, 0.90 * lossless);
  EXPECT_GT(one.lost, 200u) << "a test without losses proves nothing";
  const LossFigure five = run(0.05, GetParam());
  EXPECT_GE(five.goodput_gbps, 0.70 * lossless);
  EXPECT_LE(five.resends, five.packets / 12) << "little is sent again that had arrived";
}

// The same over a single PDC, whose window is the only one.
TEST_P(LossGoodputTest, OnePdcIsEnough) {
  const double lossless = run(0, GetParam(), 1).goodput_gbps;
  EXPECT_GE(run(0.01, GetParam(), 1).goodput_gbps, 0.90 * lossless);
  EXPECT_GE(run(0.05, GetParam(), 1).goodput_gbps, 0.70 * lossless);
}

// A round trip of 1 ms and 5 Gb/s. [CMS-197]
LossFigure run_far(double loss, uint64_t seed, Duration host_delay) {
  fep::Config config;
  config.cms = cms::Config::software();
  LossPlan plan;
  plan.loss = loss;
  plan.seed = seed;
  plan.rate_bps = 5'000'000'000;
  plan.round_trip = Duration::milliseconds(1);
  plan.host_delay = host_delay;
  plan.warm_up = Duration::milliseconds(250);
  plan.measured = Duration::milliseconds(1000);
  return goodput(config, plan);
}

// [CMS-197] Hosts work every 100 us and sleep for 3 ms now and then, which looks like a queue. Yet
// losses leave most of the window.
TEST_P(LossGoodputTest, ALongWayToABusyHostKeepsItsWindow) {
  const Duration busy = Duration::microseconds(100);
  const double lossless = run_far(0, GetParam(), busy).goodput_gbps;
  EXPECT_GT(lossless, 4) << "of 5 Gb/s";
  EXPECT_GE(run_far(0.001, GetParam(), busy).goodput_gbps, 0.92 * lossless);
  EXPECT_GE(run_far(0.01, GetParam(), busy).goodput_gbps, 0.75 * lossless);
  EXPECT_GE(run_far(0.05, GetParam(), busy).goodput_gbps, 0.50 * lossless);
}

// [CMS-197] Nor do losses at the start keep it small: after ten round trips it is in use.
TEST_P(LossGoodputTest, ALongWayIsFilledAtOnceInSpiteOfLosses) {
  fep::Config config;
  config.cms = cms::Config::software();
  LossPlan plan;
  plan.loss = 0.05;
  plan.seed = GetParam();
  plan.rate_bps = 5'000'000'000;
  plan.round_trip = Duration::milliseconds(1);
  plan.warm_up = Duration::milliseconds(10);
  EXPECT_GT(goodput(config, plan).goodput_gbps, 4.4);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LossGoodputTest, ::testing::Values(1u, 2u, 3u));

// Where the stream itself overflows a queue of half a round trip, it fills the link and loses
// little: what forgives random loss must not forgive this.
TEST(CongestionLossTest, OwnQueueIsFoundWithFewLosses) {
  LossPlan plan;
  plan.queue_bytes = 60'000;
  fep::Config config;
  config.cms = cms::Config::software();
  const LossFigure f = goodput(config, plan);
  EXPECT_GT(f.goodput_gbps, 45) << "of 50 Gb/s";
  EXPECT_GT(f.lost, 0u);
  EXPECT_LE(f.resends, f.packets / 100);
}

// Same seed, same figures.
TEST(LossGoodputSeedTest, DecidesEverything) {
  const LossFigure first = run(0.02, 7);
  const LossFigure again = run(0.02, 7);
  EXPECT_EQ(first.packets, again.packets);
  EXPECT_EQ(first.resends, again.resends);
  EXPECT_EQ(first.lost, again.lost);
  EXPECT_EQ(first.goodput_gbps, again.goodput_gbps);
}

}  // namespace
}  // namespace uet::perf
