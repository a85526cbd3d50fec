// The share of the credit pace that the core of the fabric lets through.
#include "cms/core_rate.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace uet::cms {
namespace {

using namespace uet::literals;

const Instant kBegin = Instant::from_ns(1'000'000'000);

class CoreRateTest : public ::testing::Test {
 protected:
  // A period of 100 packets, of which `marked` are marked, `trimmed` trimmed in the core and
  // `lasthop` at the last hop; and the first packet of the next period, which ends this one.
  double period(int marked, int trimmed, int lasthop) {
    for (int i = is_begun_ ? 1 : 0; i < 100; ++i) {
      Received e;
      e.at = now_;
      e.trimmed = i >= 50 && i < 50 + trimmed;
      e.trimmed_lasthop = i >= 70 && i < 70 + lasthop;
      e.ce = i >= 1 && i < 1 + marked;
      rate_.on_received(e);
    }
    is_begun_ = true;
    now_ = rate_.period_end();
    Received next;
    next.at = now_;
    rate_.on_received(next);
    return rate_.rate_q16() / 65536.0;
  }
  static Config of(uint32_t ratio) {
    Config c;
    c.base_rtt = 12_us;
    c.credit.core_rate = true;
    c.credit.oversubscription = ratio;
    return c;
  }
  CoreRate rate_{of(4), 5};
  Instant now_ = kBegin;
  bool is_begun_ = false;
};

// [CMS-141] The share of packets that were trimmed in the core is subtracted from the rate; trims
// at the last hop are not.
TEST_F(CoreRateTest, TrimsInTheCoreLowerTheRate) {
  EXPECT_EQ(rate_.rate_q16(), 65'536u);
  EXPECT_NEAR(period(0, 10, 0), 0.9, 0.001);
  EXPECT_NEAR(period(0, 10, 0), 0.8, 0.001);
  EXPECT_NEAR(period(0, 0, 10), 0.81, 0.001);
}

// [CMS-141] It is an option: without it the pace is the whole one, whatever the core does.
TEST_F(CoreRateTest, OffItGrantsTheWholePace) {
  Config off = of(4);
  off.credit.core_rate = false;
  rate_ = CoreRate(off, 5);
  EXPECT_EQ(period(80, 20, 0), 1.0);
  EXPECT_EQ(period(80, 20, 0), 1.0);
}

// [CMS-141] Marks: of 40 in 100 g is 0.2, then 0.3, then 0.35, which costs 0.5 * 0.05. At g <= 0.3
// with marks the rate rises by 0.01.
TEST_F(CoreRateTest, LastingMarksLowerIt) {
  EXPECT_NEAR(period(0, 20, 0), 0.8, 0.001);
  EXPECT_NEAR(period(40, 0, 0), 0.81, 0.001);    // g 0.2
  EXPECT_NEAR(period(39, 0, 0), 0.82, 0.001);    // g 0.295
  EXPECT_NEAR(period(41, 0, 0), 0.7983, 0.001);  // g 0.3525: times 0.97375
}

// [CMS-141] Without marks the increase doubles: 0.01, 0.02, 0.04 ...; after a decrease it restarts.
TEST_F(CoreRateTest, RisesFasterAndFaster) {
  EXPECT_NEAR(period(0, 40, 0), 0.6, 0.001);
  EXPECT_NEAR(period(0, 0, 0), 0.61, 0.001);
  EXPECT_NEAR(period(0, 0, 0), 0.63, 0.001);
  EXPECT_NEAR(period(0, 0, 0), 0.67, 0.001);
  EXPECT_NEAR(period(1, 0, 0), 0.68, 0.001) << "a mark: 0.01";
  EXPECT_NEAR(period(0, 1, 0), 0.67, 0.001);
  EXPECT_NEAR(period(0, 0, 0), 0.68, 0.001);
}

// [CMS-141] Between 0.9 / ratio and 1.
TEST_F(CoreRateTest, StaysBetweenItsLimits) {
  for (int i = 0; i < 20; ++i) period(0, 20, 0);
  EXPECT_NEAR(rate_.rate_q16() / 65536.0, 0.225, 0.001);
  for (int i = 0; i < 20; ++i) period(0, 0, 0);
  EXPECT_EQ(rate_.rate_q16(), 65'536u);
}

// [CMS-141] A period lasts 1.5 base RTTs, give or take a quarter: 13.5 to 22.5 us. The first packet
// meets any point of one.
TEST_F(CoreRateTest, PeriodsLastOneAndAHalfRoundTrips) {
  Duration shortest = 1_s;
  Duration longest;
  Duration first_shortest = 1_s;
  Duration first_longest;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    CoreRate rate(of(4), seed);
    rate.on_received({.at = kBegin});
    const Instant first = rate.period_end();
    rate.on_received({.at = first});
    shortest = std::min(shortest, rate.period_end() - first);
    longest = std::max(longest, rate.period_end() - first);
    first_shortest = std::min(first_shortest, first - kBegin);
    first_longest = std::max(first_longest, first - kBegin);
  }
  EXPECT_GE(shortest, 13_us + 500_ns);
  EXPECT_LE(shortest, 14_us);
  EXPECT_LE(longest, 22_us + 500_ns);
  EXPECT_GE(longest, 22_us);
  EXPECT_LE(first_shortest, 1_us);
  EXPECT_GE(first_longest, 18_us);
}

// [CMS-141] The next period begins where one ends, not with the packet that comes after it.
TEST_F(CoreRateTest, ALatePacketMakesNoPeriodLonger) {
  period(0, 0, 0);
  CoreRate late = rate_;
  const Instant end = rate_.period_end();
  rate_.on_received({.at = end});
  late.on_received({.at = end + 5_us});
  EXPECT_EQ(rate_.period_end(), late.period_end());
}

// [CMS-141] A pause is periods without marks: 0.6, after four of them 0.6 + 0.01 + 0.02 + 0.04 +
// 0.08, after 20 the whole rate.
TEST_F(CoreRateTest, TheRateRisesInAPause) {
  period(0, 40, 0);
  CoreRate rate = rate_;
  Instant at = rate.period_end();
  for (int i = 0; i < 3; ++i) {  // when the fourth ends, by a copy
    rate.on_received({.at = at});
    at = rate.period_end();
  }
  rate_.on_received({.at = at});
  EXPECT_NEAR(rate_.rate_q16() / 65536.0, 0.75, 0.001);
  rate_.on_received({.at = at + 460_us});
  EXPECT_EQ(rate_.rate_q16(), 65'536u);
  rate_.on_received({.at = at + 10_s});
  EXPECT_GT(rate_.period_end(), at + 10_s);
}

}  // namespace
}  // namespace uet::cms
