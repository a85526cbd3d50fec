// The defaults of congestion management, against the table of the reference.
#include "cms/config.h"

#include <gtest/gtest.h>

namespace uet::cms {
namespace {

using namespace uet::literals;

// [CMS-190] Section 10 of cms.md, row by row; rows of PDS and of the backend are not here.
TEST(ConfigTest, DefaultsAreThoseOfTheTable) {
  const Config c;
  EXPECT_EQ(c.algorithm, Algorithm::nscc);          // NsccEnable, RcccEnable
  EXPECT_EQ(c.base_rtt, 12'000_ns);                 // ConfigBaseRtt
  EXPECT_EQ(c.peer_link_mbps, 0u);                  // RemoteLinkSpeed: as the local one
  EXPECT_TRUE(c.trimming);                          // Trimming; false where a socket is used
  EXPECT_TRUE(c.base_rtt_probe);                    // BaseRttProbe
  EXPECT_EQ(c.base_rtt_time, 60_s);                 // BaseRttCacheTime
  EXPECT_EQ(c.idle_time, 1000_us);                  // CccIdleTime
  EXPECT_EQ(c.nscc.target_delay, 0_ns);             // TargetQdelay: of the base RTT
  EXPECT_EQ(c.nscc.window_max_permille, 1500u);     // MaxWndFactor
  EXPECT_EQ(c.nscc.alpha_permille, 4000u);          // AlphaFactor
  EXPECT_EQ(c.nscc.fair_permille, 5000u);           // FiFactor
  EXPECT_EQ(c.nscc.fast_permille, 250u);            // FiScaleFactor
  EXPECT_EQ(c.nscc.eta_permille, 150u);             // EtaFactor
  EXPECT_EQ(c.nscc.gamma_permille, 800u);           // Gamma
  EXPECT_EQ(c.nscc.decrease_max_permille, 500u);    // MaxMdJump
  EXPECT_EQ(c.nscc.adjust_packets, 8u);             // AdjustBytes
  EXPECT_EQ(c.nscc.adjust_period_permille, 1000u);  // AdjustPeriod
  EXPECT_EQ(c.nscc.quick_gate, 3);                  // QaGate
  EXPECT_EQ(c.nscc.quick_threshold, 0_ns);          // QaThreshold: off, or 4 target delays
  EXPECT_TRUE(c.nscc.quick_adapt);                  // DisableQuickAdapt
  EXPECT_EQ(c.nscc.no_delay, 1000_ns);              // FastIncreaseTolerance
  EXPECT_EQ(c.nscc.mean, DelayMean::time);          // AvgDelayMode
  EXPECT_EQ(c.credit.packets_per_grant, 4u);        // CreditPerPull
  EXPECT_EQ(c.credit.rate_permille, 990u);          // CreditRateFactor
  EXPECT_EQ(c.credit.window_max_permille, 1500u);   // CreditMaxWndFactor
  EXPECT_EQ(c.credit.first_permille, 1000u);        // CreditSpecFactor
  EXPECT_EQ(c.credit.timeout, 0_ns);                // CreditTimeout: by RTO and base RTT
  EXPECT_FALSE(c.credit.idle_credit);               // IdleCredit
  EXPECT_EQ(c.entropy.spraying, Spraying::mixed);   // MpMode
  EXPECT_EQ(c.entropy_values, 16u);                 // MpEvCount of a UDP backend
  EXPECT_EQ(c.entropy.penalty_ecn, 1);              // MpPenaltyEcn, Nack, Timeout, Max
  EXPECT_EQ(c.entropy.penalty_nack, 4);
  EXPECT_EQ(c.entropy.penalty_timeout, 15);
  EXPECT_EQ(c.entropy.penalty_max, 15);
  EXPECT_EQ(c.entropy.saturation_percent, 50);  // MpSaturation
  EXPECT_EQ(c.entropy.ring, 8);                 // MpRepsRing
  EXPECT_EQ(c.entropy.explore_packets, 16);     // MpRepsExplore
  EXPECT_EQ(c.entropy.freeze_time, 10_ms);      // MpFreezeTime
  EXPECT_EQ(c.entropy.reroute_rtts, 10u);       // TReroute
  EXPECT_FALSE(Config::software().trimming) << "a UDP socket never sees a trimmed packet";
}

}  // namespace
}  // namespace uet::cms
