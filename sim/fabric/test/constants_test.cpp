// Constants of the stack's congestion control: each one reaches the Config, and nothing else does.
#include "sim/fabric/constants.h"

#include "sim/fabric/generate.h"
#include "sim/fabric/run.h"

#include "sim/traffic/patterns.h"

#include <gtest/gtest.h>

#include <string>

namespace uet::sim::fabric {
namespace {

cms::Config config_with(const std::string& congestion) {
  cms::Config config;
  set_constants(config, congestion);
  return config;
}

std::string problem_of(const std::string& congestion) {
  try {
    config_with(congestion);
  } catch (const TopologyError& error) {
    return error.what();
  }
  return "";
}

// [CMS-190] As the table of the specification has them.
TEST(ConstantsTest, EachConstantOfNsccReachesItsMember) {
  const cms::Config c = config_with(
      "nscc,target-us=6.5,window-max=2,alpha=3,fi=4,fi-scale=0.5,eta=0.2,gamma=0.7,max-md=0.6,"
      "adjust-mtu=16,adjust-period=2,qa=off,qa-gate=5,qa-threshold-us=7,fi-tolerance-us=0.5,"
      "mean=htsim,trimming=off,base-rtt-probe=off,base-rtt-cache-s=2,restart-us=9,base-rtt-us=20");
  EXPECT_EQ(c.nscc.target_delay, Duration::nanoseconds(6'500));
  EXPECT_EQ(c.nscc.window_max_permille, 2'000u);
  EXPECT_EQ(c.nscc.alpha_permille, 3'000u);
  EXPECT_EQ(c.nscc.fair_permille, 4'000u);
  EXPECT_EQ(c.nscc.fast_permille, 500u);
  EXPECT_EQ(c.nscc.eta_permille, 200u);
  EXPECT_EQ(c.nscc.gamma_permille, 700u);
  EXPECT_EQ(c.nscc.decrease_max_permille, 600u);
  EXPECT_EQ(c.nscc.adjust_packets, 16u);
  EXPECT_EQ(c.nscc.adjust_period_permille, 2'000u);
  EXPECT_FALSE(c.nscc.quick_adapt);
  EXPECT_EQ(c.nscc.quick_gate, 5u);
  EXPECT_EQ(c.nscc.quick_threshold, Duration::microseconds(7));
  EXPECT_EQ(c.nscc.no_delay, Duration::nanoseconds(500));
  EXPECT_EQ(c.nscc.mean, cms::DelayMean::htsim);
  EXPECT_FALSE(c.trimming);
  EXPECT_FALSE(c.base_rtt_probe);
  EXPECT_EQ(c.base_rtt_time, Duration::seconds(2));
  EXPECT_EQ(c.idle_time, Duration::microseconds(9));
  EXPECT_EQ(c.base_rtt, Duration::microseconds(20));
}

// [CMS-049] Hosts know what the switches do, unless a constant says otherwise.
TEST(ConstantsTest, HostsExpectTheTrimmingOfTheSwitches) {
  NetworkFacts facts =
      facts_of(make_topology("fattree:4"), Routes(make_topology("fattree:4"), 1), 4160);
  const auto expects = [&](const char* congestion, bool trimming) {
    StackChoice choice;
    choice.congestion = congestion;
    const SwitchConfig switches = switches_for(facts, trimming, congestion);
    return endpoint_config(choice, facts, switches, 4).cms.trimming;
  };
  EXPECT_TRUE(expects("nscc", true));
  EXPECT_FALSE(expects("nscc", false));
  EXPECT_TRUE(expects("nscc,trimming=on", false));
}

// [CMS-136] As in htsim, unless it is switched off.
TEST(ConstantsTest, IdleSourcesGetCredit) {
  const Topology topology = make_topology("fattree:4");
  const NetworkFacts facts = facts_of(topology, Routes(topology, 1), 4160);
  const auto grants = [&](const char* congestion) {
    StackChoice choice;
    choice.congestion = congestion;
    const SwitchConfig switches = switches_for(facts, true, congestion);
    return endpoint_config(choice, facts, switches, 4).cms.credit.idle_credit;
  };
  EXPECT_TRUE(grants("rccc"));
  EXPECT_TRUE(grants("both"));
  EXPECT_FALSE(grants("both,idle=off"));
  EXPECT_FALSE(grants("nscc"));
}

// [CMS-190] Decimal numbers that a double does not have.
TEST(ConstantsTest, EachStepOfALongTimeIsTaken) {
  EXPECT_EQ(config_with("nscc,base-rtt-cache-s=16.1").base_rtt_time,
            Duration::milliseconds(16'100));
  EXPECT_EQ(config_with("nscc,base-rtt-cache-s=86399.999999999").base_rtt_time,
            Duration::nanoseconds(86'399'999'999'999));
  EXPECT_NE(problem_of("nscc,base-rtt-us=1.00001"), "");
}

// [CMS-190]
TEST(ConstantsTest, EachConstantOfCreditReachesItsMember) {
  for (const char* const name : {"rccc", "both"}) {
    const cms::Config c = config_with(std::string(name) +
                                      ",rate=0.9,pull=8,first=0.5,credit-max=2,"
                                      "credit-timeout-us=70,idle=on,core=on,base-rtt-us=5");
    EXPECT_EQ(c.credit.rate_permille, 900u);
    EXPECT_EQ(c.credit.packets_per_grant, 8u);
    EXPECT_EQ(c.credit.first_permille, 500u);
    EXPECT_EQ(c.credit.window_max_permille, 2'000u);
    EXPECT_EQ(c.credit.timeout, Duration::microseconds(70));
    EXPECT_TRUE(c.credit.idle_credit);
    EXPECT_TRUE(c.credit.core_rate);
    EXPECT_EQ(c.base_rtt, Duration::microseconds(5));
  }
  EXPECT_EQ(config_with("both,gamma=0.1").nscc.gamma_permille, 100u);
}

// [CMS-190] The defaults that the list shows are those of the Config, so giving them changes
// nothing.
TEST(ConstantsTest, DefaultsOfTheListChangeNoPacket) {
  const auto digest = [](const std::string& congestion) {
    RunPlan plan;
    plan.stack.congestion = congestion;
    plan.topology = make_topology("leafspine:4x4x2");
    plan.traffic = permutation({16, 300'000, 3});
    const Routes routes(plan.topology, plan.seed);
    plan.switches = switches_for(facts_of(plan.topology, routes, plan.stack.mtu_bytes), true,
                                 plan.stack.congestion);
    return run(plan).digest;
  };
  for (const std::string name : {"nscc", "rccc", "both"}) {
    std::string all = name;
    const std::string list = problem_of(name + ",?");
    for (size_t at = list.find("\n  "); at != std::string::npos; at = list.find("\n  ", at + 1)) {
      all += "," + list.substr(at + 3, list.find("  (", at) - at - 3);
    }
    EXPECT_GT(all.size(), 60u);
    EXPECT_EQ(problem_of(all), "");
    EXPECT_EQ(digest(all), digest(name)) << all;
  }
}

TEST(ConstantsTest, WrongConstantsAreRefusedWithNamesOrRange) {
  EXPECT_EQ(problem_of("nscc"), "");
  for (const char* const wrong : {"nscc,", "nscc,gamma", "nscc,=1", "nscc,rate=1", "rccc,gamma=1",
                                  "nscc,gamma=1,,eta=1", "both,x=1"}) {
    EXPECT_NE(problem_of(wrong).find("' sets no constant; there are\n  "), std::string::npos)
        << wrong;
  }
  const std::string gamma = "': a number from 0 to 1 in steps of 0.001 is needed";
  for (const char* const value : {"", "2", "-0.1", "nan", "inf", "0.5x", "0.0004", "on"}) {
    EXPECT_EQ(problem_of("nscc,gamma=" + std::string(value)),
              "--cc nscc: 'gamma=" + (value + gamma));
  }
  EXPECT_EQ(problem_of("nscc,qa-gate=64"),
            "--cc nscc: 'qa-gate=64': a number from 0 to 63 is needed");
  EXPECT_EQ(problem_of("rccc,idle=1"), "--cc rccc: 'idle=1': off or on is needed");
  EXPECT_EQ(problem_of("rccc,pull=1.5"), "--cc rccc: 'pull=1.5': a number from 1 to 64 is needed");
}

// [CMS-184] Constants behind the name do not turn rccc into something else.
TEST(ConstantsTest, SwitchesMarkAsForTheName) {
  const Topology topology = make_topology("fattree:4");
  const NetworkFacts facts = facts_of(topology, Routes(topology, 1), 4160);
  EXPECT_FALSE(switches_for(facts, true, "rccc,rate=0.9").ecn_last_hop);
  EXPECT_FALSE(switches_for(facts, true, "both,rate=0.9").ecn_last_hop);
  EXPECT_TRUE(switches_for(facts, true, "nscc,gamma=0.9").ecn_last_hop);
}

}  // namespace
}  // namespace uet::sim::fabric
