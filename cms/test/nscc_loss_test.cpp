// NSCC: trims, losses, quick adapt, and the mean of the delay. By hand, with 100 Gb/s, 12 us,
// packets of 4,160 octets and trimming: MaxWnd 225,000, an eighth of it 28,125; target delay 9 us,
// so a period of quick adapt has 21 us.
#include "cms/test/nscc_testing.h"

#include "cms/nscc.h"

#include <gtest/gtest.h>

namespace uet::cms::nscc_loss {
namespace {

using namespace uet::literals;

constexpr uint32_t kPacket = 4160;
constexpr Duration kPeriod = 21_us;
const Instant kStart = Instant::from_ns(1'000'000'000);

Config config() {
  Config c;
  c.mtu_bytes = kPacket;
  c.link_mbps = 100'000;
  c.base_rtt = 12_us;
  return c;
}

class NsccLossTest : public ::testing::Test {
 protected:
  NsccLossTest() { send(225'000); }
  void use(const Config& c) {
    nscc_ = Nscc(c);
    send(225'000);
  }
  void send(uint32_t bytes) { nscc_.on_sent({.bytes = bytes, .at = now_}); }
  void lose(LossKind kind, uint32_t bytes = kPacket) {
    nscc_.on_lost({.bytes = bytes, .packets = 1, .kind = kind, .at = now_});
  }
  void trim() { lose(LossKind::trimmed); }
  void ack(uint32_t bytes, Duration delay = 5_us, Mark mark = Mark::none) {
    nscc_.on_acked(ack_of(bytes, nscc_.base_rtt() + delay, mark, now_));
  }
  void elapse(Duration time) { now_ = now_ + time; }
  uint64_t window() const { return nscc_.window_bytes(); }

  Instant now_ = kStart;
  Nscc nscc_{config()};
};

// --- losses ---

// [CMS-194] Time-outs of 5,000 octets were early; an answer in between makes them final.
TEST_F(NsccLossTest, AnEarlyTimeOutIsTakenBack) {
  lose(LossKind::timeout, 2000);
  lose(LossKind::timeout, 3000);
  ASSERT_EQ(window(), 220'000u);
  nscc_.on_early_timeouts();
  EXPECT_EQ(window(), 225'000u);
  lose(LossKind::timeout, 2000);
  ack(0, 5_us, Mark::ecn);
  nscc_.on_early_timeouts();
  EXPECT_EQ(window(), 223'000u);
}

// [CMS-194] What the least window has kept is not given back.
TEST_F(NsccLossTest, NoMoreThanItTookIsGivenBack) {
  lose(LossKind::inferred, 219'000);
  ASSERT_EQ(window(), 6000u);
  lose(LossKind::timeout, 4000);
  ASSERT_EQ(window(), 4160u);
  nscc_.on_early_timeouts();
  EXPECT_EQ(window(), 6000u);
}

// [CMS-194] The same of a loss that was inferred. In software a loss is a sign of a full queue, and
// takes its share for good.
TEST_F(NsccLossTest, ARefutedLossCostsNothing) {
  lose(LossKind::inferred, 3000);
  ASSERT_EQ(window(), 222'000u);
  nscc_.on_loss_refuted(3000);
  EXPECT_EQ(window(), 225'000u);
  nscc_.on_loss_refuted(3000);
  EXPECT_EQ(window(), 225'000u) << "it is never above the largest";
  Config c = config();
  c.learns_by_loss = true;
  use(c);
  lose(LossKind::inferred, 3000);
  const uint64_t after = window();
  nscc_.on_loss_refuted(3000);
  EXPECT_EQ(window(), after);
}

// [CMS-094, CMS-098] Any other NACK: the packet is no longer in flight, the window stays.
TEST_F(NsccLossTest, ARefusalLeavesTheWindow) {
  lose(LossKind::refused);
  EXPECT_EQ(window(), 225'000u);
  EXPECT_EQ(nscc_.inflight_bytes(), 225'000 - 4160);
}

// [CMS-094, CMS-108] The round trip of any NACK may be the shortest.
TEST_F(NsccLossTest, ANackMayLowerTheBaseRtt) {
  nscc_.on_lost(
      {.bytes = kPacket, .kind = LossKind::refused, .at = now_, .rtt = 10_us, .rtt_valid = true});
  EXPECT_EQ(nscc_.base_rtt(), 10_us);
  nscc_.on_lost({.bytes = kPacket, .kind = LossKind::trimmed, .at = now_, .rtt = 4_us});
  EXPECT_EQ(nscc_.base_rtt(), 10_us) << "not valid";
}

// [CMS-099, CMS-100, CMS-024] A detected loss reduces the window by the lost octets, by time-out or
// by SACK; not below a packet.
TEST_F(NsccLossTest, ALossCostsItsOctets) {
  lose(LossKind::inferred, 3000);
  EXPECT_EQ(window(), 222'000u);
  EXPECT_EQ(nscc_.inflight_bytes(), 222'000);
  lose(LossKind::timeout, 2000);
  EXPECT_EQ(window(), 220'000u);
  lose(LossKind::timeout, 219'000);
  EXPECT_EQ(window(), kPacket);
}

// [CMS-096] In the first period a trim costs its packet, on the way and at the last hop.
TEST_F(NsccLossTest, ATrimCostsItsPacket) {
  trim();
  EXPECT_EQ(window(), 220'840u);
  EXPECT_EQ(nscc_.inflight_bytes(), 220'840);
  lose(LossKind::trimmed_lasthop);
  EXPECT_EQ(window(), 216'680u);
}

// [CMS-097, CMS-144] With RCCC credit controls the last hop: a trim there changes neither the
// window nor quick adapt, and an ACK a period later finds no reason.
TEST_F(NsccLossTest, CreditOwnsTheLastHop) {
  Config c = config();
  c.algorithm = Algorithm::both;
  use(c);
  ack(0);
  lose(LossKind::trimmed_lasthop);
  EXPECT_EQ(window(), 225'000u);
  EXPECT_EQ(nscc_.inflight_bytes(), 220'840);
  elapse(kPeriod);
  lose(LossKind::trimmed_lasthop);
  ack(0);
  EXPECT_EQ(window(), 225'000u);
  trim();
  EXPECT_EQ(window(), 220'840u) << "elsewhere it is";
}

// --- quick adapt ---

// [CMS-091, CMS-093] A period after the first judgement: the window becomes what arrived meanwhile.
TEST_F(NsccLossTest, QuickAdaptSetsTheWindowToTheReceivedOctets) {
  trim();  // begins the first period
  ack(10'000);
  elapse(kPeriod);
  trim();
  EXPECT_EQ(window(), 10'000u);
}

// [CMS-091] At least a packet.
TEST_F(NsccLossTest, NothingArrivedLeavesAPacket) {
  trim();
  elapse(kPeriod);
  trim();
  EXPECT_EQ(window(), kPacket);
}

// [CMS-091, CMS-093] Not before the period is over.
TEST_F(NsccLossTest, NotBeforeThePeriodIsOver) {
  trim();
  elapse(kPeriod - 1_ns);
  trim();
  EXPECT_EQ(window(), 225'000u - 2 * 4160);
}

// [CMS-091, CMS-059] An eighth of MaxWnd arrived: the path works, and a trim costs its packet.
TEST_F(NsccLossTest, AnEighthOfTheMostIsEnough) {
  trim();
  ack(28'125, 5_us, Mark::ecn);
  elapse(kPeriod);
  trim();
  EXPECT_EQ(window(), 225'000u - 2 * 4160);

  use(config());
  trim();
  ack(28'124, 5_us, Mark::ecn);
  elapse(kPeriod);
  trim();
  EXPECT_EQ(window(), 28'124u);
}

// [CMS-091] The count of received octets restarts with each period, whatever the result of the
// last.
TEST_F(NsccLossTest, EachPeriodRestartsTheCount) {
  trim();
  ack(50'000, 5_us, Mark::ecn);
  elapse(kPeriod);
  trim();  // enough arrived; counts from here
  ack(20'000, 5_us, Mark::ecn);
  elapse(kPeriod);
  trim();
  EXPECT_EQ(window(), 20'000u);
}

// [CMS-091, CMS-096] A trim in the middle of a period is remembered: the first ACK after its end
// adapts.
TEST_F(NsccLossTest, ATrimInThePeriodIsRemembered) {
  ack(0);  // begins the first period
  elapse(10_us);
  trim();
  EXPECT_EQ(window(), 220'840u);
  elapse(11_us);
  ack(5000);
  EXPECT_EQ(window(), 5000u);
}

// [CMS-091] And forgotten once that was done.
TEST_F(NsccLossTest, QuickAdaptForgetsAnOldBurst) {
  ack(0);
  trim();
  elapse(kPeriod);
  ack(5000);
  ASSERT_EQ(window(), 5000u);
  elapse(kPeriod);
  ack(4999, 5_us);
  EXPECT_GE(window(), 5000u) << "no reason any more";
}

// [CMS-090, CMS-101] After that, marks and trims of the same burst do nothing, until as much is
// acknowledged, trimmed or lost as was in flight.
TEST_F(NsccLossTest, TheRestOfTheBurstIsIgnored) {
  trim();
  ack(10'000);
  elapse(kPeriod);
  trim();
  ASSERT_EQ(window(), 10'000u);
  ASSERT_EQ(nscc_.inflight_bytes(), 206'680);  // to be ignored
  trim();
  EXPECT_EQ(window(), 10'000u);
  ack(200'000, 100_us, Mark::ecn);  // 204,160 of them
  EXPECT_EQ(window(), 10'000u) << "no decrease and no adjustment";
  trim();  // the trim itself counts: 208,320
  EXPECT_EQ(window(), 10'000u - 4160) << "no more";
}

// [CMS-090, CMS-099] Detected losses belong to the burst as well. After its end a mark counts as a
// mark again: the ACK may adjust, by eta.
TEST_F(NsccLossTest, LossesCountAsIgnored) {
  trim();
  ack(20'000);
  elapse(kPeriod);
  trim();
  ASSERT_EQ(window(), 20'000u);
  ASSERT_EQ(nscc_.inflight_bytes(), 196'680);
  lose(LossKind::inferred, 196'679);
  ack(0, 100_us, Mark::ecn);
  EXPECT_EQ(window(), kPacket);
  lose(LossKind::inferred, 1);
  ack(0, 100_us, Mark::ecn);
  EXPECT_EQ(window(), kPacket + 624u);
}

// [CMS-090] An ACK without a mark does not belong to the burst.
TEST_F(NsccLossTest, AnAckWithoutMarkIsNotIgnored) {
  trim();
  ack(10'000);
  elapse(kPeriod);
  trim();
  ack(40'000, 20_us);
  // Fair increase: 20,800 * 40,000 / 10,000, and eta, for 21 us have passed.
  EXPECT_NEAR(static_cast<double>(window()), 10'000 + 83'200 + 624, 90);
}

// [CMS-092] What was to be added before is dropped: 20,800 * 30,000 would come to 62,400.
TEST_F(NsccLossTest, QuickAdaptDropsThePendingIncrease) {
  use(config());
  trim();
  ack(10'000, 20_us);
  elapse(kPeriod);
  trim();
  ASSERT_EQ(window(), 10'000u);
  ack(0, 20_us);
  EXPECT_NEAR(static_cast<double>(window()), 10'624, 1) << "eta alone";
}

// [CMS-092, CMS-081] The octets that count for the adjustment, too.
TEST_F(NsccLossTest, QuickAdaptDropsTheReceivedCount) {
  use(config());
  ack(0);
  elapse(12_us);
  ack(0);  // a period of adjustment begins
  trim();
  ack(20'000, 20_us);
  elapse(9_us);
  trim();
  ASSERT_EQ(window(), 20'000u);
  ack(20'000, 20_us);
  EXPECT_EQ(window(), 20'000u) << "20,000 are not more than 8 packets, and 9 us no period";
}

// [CMS-089, CMS-061] Switched off, a trim costs its packet at any time.
TEST_F(NsccLossTest, QuickAdaptMayBeOff) {
  Config c = config();
  c.nscc.quick_adapt = false;
  use(c);
  trim();
  elapse(kPeriod);
  trim();
  EXPECT_EQ(window(), 225'000u - 2 * 4160);
}

// [CMS-075, CMS-091, CMS-060] Without trimming, delay above 4 target delays (48 us) is a trigger; a
// period has 24 us. With trimming, delay alone is not a trigger.
TEST_F(NsccLossTest, DelayAloneIsAReasonWithoutTrimming) {
  Config c = config();
  c.trimming = false;
  use(c);
  ack(0);
  elapse(24_us);
  ack(5000, 48_us, Mark::ecn);
  EXPECT_GT(window(), 100'000u) << "not above";
  elapse(24_us);
  ack(5000, 48_us + 1_ns);
  EXPECT_EQ(window(), 5000u);

  use(config());
  ack(0);
  elapse(kPeriod);
  ack(5000, 1_ms);
  EXPECT_EQ(window(), 225'000u);
}

// --- the mean of the delay ---

// [CMS-102, CMS-103] By the time since the last sample, over a base RTT: 3 of 12 us make a quarter.
TEST_F(NsccLossTest, TheMeanIsWeightedByTime) {
  elapse(12_us);
  ack(0, 8_us);
  EXPECT_EQ(nscc_.mean_delay(), 8_us) << "all of it";
  elapse(3_us);
  ack(0, 4_us);
  EXPECT_EQ(nscc_.mean_delay(), 7_us);
  ack(0, 100_us);
  EXPECT_EQ(nscc_.mean_delay(), 7_us) << "no time";
  elapse(1_ms);
  ack(0, 2_us);
  EXPECT_EQ(nscc_.mean_delay(), 2_us) << "all of it, and no more than that";
}

// [CMS-103, CMS-074] Over the base RTT that was measured: 3 of 6 us.
TEST_F(NsccLossTest, TheMeanIsOverTheMeasuredBaseRtt) {
  nscc_.note_base_rtt(6_us);
  elapse(12_us);
  ack(0, 8_us);
  elapse(3_us);
  ack(0, 4_us);
  EXPECT_EQ(nscc_.mean_delay(), 6_us);
}

// [CMS-095] A trim counts as a delay of the configured base RTT, whatever was measured.
TEST_F(NsccLossTest, ATrimCountsAsTheConfiguredBaseRtt) {
  nscc_.note_base_rtt(6_us);
  elapse(6_us);
  trim();
  EXPECT_EQ(nscc_.mean_delay(), 12_us);
}

// [CMS-095, CMS-098, CMS-099] Other NACKs and losses say nothing of the delay.
TEST_F(NsccLossTest, OtherLossesCountForNoDelay) {
  elapse(12_us);
  lose(LossKind::refused);
  lose(LossKind::inferred);
  lose(LossKind::timeout);
  EXPECT_EQ(nscc_.mean_delay(), Duration::zero());
}

// [CMS-104] As htsim: 1/80 of each difference; an unmarked delay above the target counts as a
// quarter of the base RTT. 8,000 / 80 = 100; (3,000 - 100) / 80 = 36.25; (20,000 - 136.25) / 80 =
// 248.3.
TEST_F(NsccLossTest, TheMeanOfHtsim) {
  Config c = config();
  c.nscc.mean = DelayMean::htsim;
  use(c);
  ack(0, 8_us);
  EXPECT_EQ(nscc_.mean_delay(), 100_ns);
  ack(0, 20_us);
  EXPECT_NEAR(static_cast<double>(nscc_.mean_delay().ns()), 136.25, 1);
  ack(0, 20_us, Mark::ecn);
  EXPECT_NEAR(static_cast<double>(nscc_.mean_delay().ns()), 384.5, 1);
}

}  // namespace
}  // namespace uet::cms::nscc_loss
