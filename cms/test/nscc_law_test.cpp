// The constants of NSCC, against figures by hand and the table of cms.md 3.1.
#include "cms/nscc.h"

#include <gtest/gtest.h>

namespace uet::cms::nscc_law {
namespace {

using namespace uet::literals;

Config config(uint32_t mbps = 100'000) {
  Config c;
  c.mtu_bytes = 4160;
  c.link_mbps = mbps;
  c.base_rtt = 12_us;
  return c;
}
double alpha_per_us(const NsccLaw& law) {
  return static_cast<double>(law.alpha_q24) / (1 << 24) * 1000;
}
double fast(const NsccLaw& law) { return law.fast_q16 / 65536.0; }
double eta(const NsccLaw& law) { return law.eta_q8 / 256.0; }

// [CMS-063, CMS-046, CMS-047, CMS-048, CMS-050, CMS-051, CMS-052, CMS-053, CMS-054, CMS-064] The
// worked values of cms.md, within 0.1 %.
TEST(NsccLawTest, TheWorkedValues) {
  struct Row {
    uint32_t mbps;
    double window, alpha, fair, fast, eta;
  };
  constexpr Row kRows[] = {
      {100'000, 225'000, 1386.7, 20'800, 0.25, 624},
      {400'000, 900'000, 5546.7, 83'200, 1, 2496},
      {800'000, 1'800'000, 11093.3, 166'400, 2, 4992},
  };
  for (const Row& row : kRows) {
    const NsccLaw law(config(row.mbps));
    EXPECT_EQ(static_cast<double>(law.window_max), row.window);
    EXPECT_EQ(law.target, 9_us);
    EXPECT_NEAR(alpha_per_us(law), row.alpha, row.alpha / 1000);
    EXPECT_NEAR(law.fair, row.fair, row.fair / 1000);
    EXPECT_NEAR(fast(law), row.fast, row.fast / 1000);
    EXPECT_NEAR(eta(law), row.eta, row.eta / 1000);
  }
}

// [CMS-044, CMS-045, CMS-050] The slower of both links, for one base RTT: 25 Gb/s times 20 us are
// 62,500 octets, and a window 93,750. At least a packet.
TEST(NsccLawTest, TheBdpIsThatOfTheSlowerLink) {
  Config c = config(100'000);
  c.base_rtt = 20_us;
  EXPECT_EQ(c.bdp_bytes(), 250'000u) << "the peer's link is not known";
  c.peer_link_mbps = 25'000;
  EXPECT_EQ(c.bdp_bytes(), 62'500u);
  EXPECT_EQ(NsccLaw(c).window_max, 93'750u);
  c.peer_link_mbps = 400'000;
  EXPECT_EQ(c.bdp_bytes(), 250'000u);
  c.link_mbps = 10;
  EXPECT_EQ(c.bdp_bytes(), 4160u) << "25 octets";
}

// [CMS-049] Three quarters of the base RTT where switches trim, all of it where they do not.
TEST(NsccLawTest, TheTargetDelayDependsOnTrimming) {
  Config c = config();
  EXPECT_EQ(NsccLaw(c).target, 9_us);
  c.trimming = false;
  EXPECT_EQ(NsccLaw(c).target, 12_us);
  c.nscc.target_delay = 5_us;
  EXPECT_EQ(NsccLaw(c).target, 5_us);
}

// [CMS-048, CMS-051] scaling_b cancels the target delay: alpha is 4 * 1 * 4160 / 12 us for any.
TEST(NsccLawTest, AlphaDoesNotDependOnTheTargetDelay) {
  Config c = config();
  c.nscc.target_delay = 3_us;
  EXPECT_NEAR(alpha_per_us(NsccLaw(c)), 1386.7, 1.4);
}

// [CMS-055, CMS-056, CMS-057, CMS-058, CMS-059, CMS-061, CMS-062] The other defaults.
TEST(NsccLawTest, TheDefaults) {
  const NsccLaw law(config());
  EXPECT_NEAR(law.gamma_q16 / 65536.0, 0.8, 0.0001);
  EXPECT_EQ(law.decrease_max_q16, 32'768u) << "0.5";
  EXPECT_EQ(law.adjust_bytes, 33'280u) << "8 * 4160";
  EXPECT_EQ(law.adjust_period, 12_us);
  EXPECT_EQ(law.quick_gate, 3);
  EXPECT_TRUE(law.quick_adapt);
  EXPECT_EQ(law.no_delay_ns, 1000u);
}

// [CMS-060] Off with trimming; else 4 target delays, which is 4 base RTTs.
TEST(NsccLawTest, TheThresholdOfQuickAdapt) {
  Config c = config();
  EXPECT_EQ(NsccLaw(c).quick_threshold, Duration::infinite());
  c.trimming = false;
  EXPECT_EQ(NsccLaw(c).quick_threshold, 48_us);
  c.nscc.quick_threshold = 30_us;
  EXPECT_EQ(NsccLaw(c).quick_threshold, 30_us);
}

// [CMS-065] What a context begins with.
TEST(NsccLawTest, TheFirstState) {
  const Nscc nscc(config());
  EXPECT_EQ(nscc.window_bytes(), 225'000u);
  EXPECT_EQ(nscc.window_bytes_max(), 225'000u);
  EXPECT_EQ(nscc.inflight_bytes(), 0);
  EXPECT_EQ(nscc.base_rtt(), 12_us);
  EXPECT_EQ(nscc.mean_delay(), Duration::zero());
}

}  // namespace
}  // namespace uet::cms::nscc_law
