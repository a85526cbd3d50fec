// Who takes what, and the rules of PDCs that need no state.
#include "tss/policy.h"
#include "tss/pdc_rules.h"

#include <gtest/gtest.h>

namespace uet::tss {
namespace {

// [TSS-077, TSS-078] The whole table.
TEST(PolicyTest, ClearAndSealedPacketsAreJudgedByTheTable) {
  struct Row {
    Policy policy;
    Verdict clear, own, other;
  };
  constexpr Row kRows[] = {{Policy::none, Verdict::take, Verdict::not_bound, Verdict::not_bound},
                           {Policy::allow, Verdict::take, Verdict::take, Verdict::not_bound},
                           {Policy::require, Verdict::bypass, Verdict::take, Verdict::not_bound}};
  for (const Row& row : kRows) {
    EXPECT_EQ(judge(row.policy, 0, false), row.clear);
    EXPECT_EQ(judge(row.policy, 7, true), row.own);
    EXPECT_EQ(judge(row.policy, 7, false), row.other);
  }
}

class JobTableTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(jobs_.create(arena_, 3, 1).ok()); }
  Arena arena_;
  JobTable jobs_;
};

// [TSS-146] A domain that is taken out of use, until it is there again.
TEST_F(JobTableTest, ADomainClosesAndOpens) {
  ASSERT_TRUE(jobs_.bind(JobId(5), 7).ok());
  jobs_.set_default(Policy::require, 9);
  EXPECT_FALSE(jobs_.is_closing(7));
  jobs_.close(7);
  jobs_.close(7);
  jobs_.close(8);  // nobody is sent in it
  EXPECT_TRUE(jobs_.is_closing(7));
  EXPECT_TRUE(jobs_.is_closing(JobId(5)));
  EXPECT_FALSE(jobs_.is_closing(8));
  EXPECT_FALSE(jobs_.is_closing(9));
  EXPECT_FALSE(jobs_.is_closing(JobId(1))) << "of the other domain";
  EXPECT_EQ(jobs_.judge_arrival(JobId(5), 7), Verdict::take) << "what was begun may end";
  jobs_.close(9);
  EXPECT_TRUE(jobs_.is_closing(JobId(1)));
  jobs_.reopen(7);
  EXPECT_FALSE(jobs_.is_closing(JobId(5)));
  EXPECT_TRUE(jobs_.is_closing(9));
  jobs_.reopen(9);
  EXPECT_FALSE(jobs_.is_closing(JobId(1)));
}

// [TSS-074, TSS-077] A job may have several domains; it sends in the first.
TEST_F(JobTableTest, JobsAreBoundToDomains) {
  ASSERT_TRUE(jobs_.bind(JobId(5), 7).ok());
  ASSERT_TRUE(jobs_.bind(JobId(5), 8).ok());
  ASSERT_TRUE(jobs_.bind(JobId(6), 9, Policy::allow).ok());
  EXPECT_EQ(jobs_.domain_of(JobId(5)), 7u);
  EXPECT_EQ(jobs_.domain_of(JobId(6)), 9u);
  EXPECT_EQ(jobs_.domain_of(JobId(1)), 0u);
  EXPECT_EQ(jobs_.judge_arrival(JobId(5), 7), Verdict::take);
  EXPECT_EQ(jobs_.judge_arrival(JobId(5), 8), Verdict::take);
  EXPECT_EQ(jobs_.judge_arrival(JobId(5), 9), Verdict::not_bound);
  EXPECT_EQ(jobs_.judge_arrival(JobId(5), 0), Verdict::bypass);
  EXPECT_EQ(jobs_.judge_arrival(JobId(6), 0), Verdict::take);
  EXPECT_EQ(jobs_.judge_arrival(JobId(1), 0), Verdict::take) << "no domain, no policy";
  EXPECT_EQ(jobs_.judge_arrival(JobId(1), 7), Verdict::not_bound);
}

// [TSS-077] Required is the default of a job with a domain.
TEST_F(JobTableTest, SecurityIsRequiredUnlessTheJobSaysOtherwise) {
  ASSERT_TRUE(jobs_.bind(JobId(5), 7).ok());
  EXPECT_EQ(jobs_.policy_of(JobId(5)), Policy::require);
  EXPECT_EQ(jobs_.policy_of(JobId(1)), Policy::none);
  jobs_.set_default(Policy::require);
  EXPECT_EQ(jobs_.judge_arrival(JobId(1), 0), Verdict::bypass);
  ASSERT_TRUE(jobs_.bind(JobId(6), 7, Policy::none).ok());
  EXPECT_EQ(jobs_.domain_of(JobId(6)), 0u) << "it sends in the clear";
}

// [TSS-084] Before the job of a packet is known.
TEST_F(JobTableTest, ClearPacketsAreRefusedUnreadWhereNobodyTakesThem) {
  EXPECT_TRUE(jobs_.clear_may_pass());
  jobs_.set_default(Policy::require);
  EXPECT_FALSE(jobs_.clear_may_pass());
  ASSERT_TRUE(jobs_.bind(JobId(5), 7).ok());
  EXPECT_FALSE(jobs_.clear_may_pass());
  ASSERT_TRUE(jobs_.bind(JobId(6), 7, Policy::allow).ok());
  EXPECT_TRUE(jobs_.clear_may_pass());
}

TEST_F(JobTableTest, WhatIsWrongChangesNothing) {
  EXPECT_EQ(jobs_.bind(JobId(5), 0).error(), Errc::invalid);
  ASSERT_TRUE(jobs_.bind(JobId(5), 7).ok());
  EXPECT_EQ(jobs_.bind(JobId(5), 7).error(), Errc::exists);
  EXPECT_EQ(jobs_.bind(JobId(5), 8, Policy::allow).error(), Errc::exists) << "two policies";
  EXPECT_EQ(jobs_.policy_of(JobId(5)), Policy::require);
  ASSERT_TRUE(jobs_.bind(JobId(6), 7).ok());
  ASSERT_TRUE(jobs_.bind(JobId(7), 7).ok());
  EXPECT_EQ(jobs_.bind(JobId(8), 7).error(), Errc::again);
}

FabricAddress address(uint8_t last, uint16_t port = kUetPort) {
  FabricAddress a;
  a.ip[3] = last;
  a.family = FabricAddress::Family::ipv4;
  a.port = port;
  return a;
}

// [TSS-073, TSS-078] Each part counts.
TEST(PdcBindingTest, APacketMatchesInEverything) {
  const PdcBinding bound{address(1), address(2), 7, Pdcid(33)};
  EXPECT_EQ(bound, (PdcBinding{address(1), address(2), 7, Pdcid(33)}));
  EXPECT_NE(bound, (PdcBinding{address(9), address(2), 7, Pdcid(33)}));
  EXPECT_NE(bound, (PdcBinding{address(1, 4794), address(2), 7, Pdcid(33)}));
  EXPECT_NE(bound, (PdcBinding{address(1), address(9), 7, Pdcid(33)}));
  EXPECT_NE(bound, (PdcBinding{address(1), address(2), 8, Pdcid(33)}));
  EXPECT_NE(bound, (PdcBinding{address(1), address(2), 0, Pdcid(33)})) << "in the clear";
  EXPECT_NE(bound, (PdcBinding{address(1), address(2), 7, Pdcid(34)}));
}

// [TSS-057]
TEST(StartPsnTest, TheFirstStartIsLowAndFarFromTheLastPsn) {
  SeededRandom randomness(5);
  const Psn last(1'000'000);
  for (int i = 0; i < 200'000; ++i) {
    const Psn start = draw_start(randomness, last);
    ASSERT_GE(start.value(), 1U << 16);
    ASSERT_LT(start.value(), 1U << 31);
    ASSERT_GE(std::abs(int64_t{start.value()} - 1'000'000), 1 << 16);
  }
  EXPECT_GE(draw_start(randomness, std::nullopt).value(), 1U << 16);
}

// [TSS-058]
TEST(StartPsnTest, APdcClosesBeforeItsPsnsRepeat) {
  EXPECT_FALSE(must_close(Psn(100), Psn(100)));
  EXPECT_FALSE(must_close(Psn(100), Psn(99 + 0x80000000)));
  EXPECT_TRUE(must_close(Psn(100), Psn(100 + 0x80000000)));
  EXPECT_FALSE(must_close(Psn(0xFFFFFF00), Psn(5)));
}

// [TSS-059, TSS-060, TSS-064, TSS-065]
TEST(StartPsnTest, TheTargetDecidesWhereAPdcBegins) {
  SeededRandom randomness(5);
  using enum StartMethod;
  const StartVerdict free = judge_start(expected_0rtt, Psn(50), std::nullopt, randomness);
  EXPECT_TRUE(free.is_accepted);
  EXPECT_EQ(free.begin_at, Psn(50));
  EXPECT_TRUE(judge_start(expected_0rtt, Psn(60), Psn(60), randomness).is_accepted);
  const StartVerdict late = judge_start(expected_0rtt, Psn(59), Psn(60), randomness);
  EXPECT_FALSE(late.is_accepted);
  EXPECT_EQ(late.begin_at, Psn(60));
  EXPECT_TRUE(judge_start(expected_0rtt, Psn(5), Psn(0xFFFFFFF0), randomness).is_accepted)
      << "serial";
  const StartVerdict first = judge_start(random_1rtt, Psn(50), std::nullopt, randomness);
  const StartVerdict second = judge_start(random_1rtt, Psn(50), std::nullopt, randomness);
  EXPECT_FALSE(first.is_accepted);
  EXPECT_NE(first.begin_at, second.begin_at);
}

// [TSS-061]
TEST(StartPsnTest, APendingPdcOpensWhereItWasTold) {
  EXPECT_TRUE(opens_pending(Psn(60), Psn(60)));
  EXPECT_FALSE(opens_pending(Psn(60), Psn(61)));
}

// [TSS-062, TSS-068, TSS-069]
TEST(StartPsnTest, AnInitiatorMovesOnlyWhenItsTargetSaysSo) {
  const NewStart told{true, true, Psn(500)};
  EXPECT_EQ(rebase_of(told, Psn(100), 0), 400);
  EXPECT_EQ(rebase_of(told, Psn(600), 3), -100);
  EXPECT_EQ(rebase_of(told, Psn(500), 0), std::nullopt) << "it is there already";
  EXPECT_EQ(rebase_of(told, Psn(100), 4), std::nullopt) << "four times at most";
  EXPECT_EQ(rebase_of({false, true, Psn(500)}, Psn(100), 0), std::nullopt) << "not secured alike";
  EXPECT_EQ(rebase_of({true, false, Psn(500)}, Psn(100), 0), std::nullopt) << "of another SYN";
}

// [TSS-063, TSS-066]
TEST(StartPsnTest, ACloseRaisesWhatIsExpected) {
  EXPECT_EQ(expected_after_close(Psn(10), Psn(20)), Psn(21));
  EXPECT_EQ(expected_after_close(Psn(20), Psn(10)), Psn(21));
  EXPECT_EQ(expected_after_close(Psn(0xFFFFFFFF), Psn(0xFFFFFFF0)), Psn(0));
  EXPECT_EQ(adopt_expected(std::nullopt, Psn(5)), Psn(5));
  EXPECT_EQ(adopt_expected(Psn(7), Psn(5)), Psn(7));
  EXPECT_EQ(adopt_expected(Psn(7), Psn(9)), Psn(9));
}

}  // namespace
}  // namespace uet::tss
