// Which packets a job accepts.
#include "tss/policy.h"

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
  jobs_.close(8);  // no job sends in it
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
TEST_F(JobTableTest, ClearPacketsAreRefusedUnreadIfNoJobAcceptsThem) {
  EXPECT_TRUE(jobs_.clear_may_pass());
  jobs_.set_default(Policy::require);
  EXPECT_FALSE(jobs_.clear_may_pass());
  ASSERT_TRUE(jobs_.bind(JobId(5), 7).ok());
  EXPECT_FALSE(jobs_.clear_may_pass());
  ASSERT_TRUE(jobs_.bind(JobId(6), 7, Policy::allow).ok());
  EXPECT_TRUE(jobs_.clear_may_pass());
}

TEST_F(JobTableTest, WrongInputChangesNothing) {
  EXPECT_EQ(jobs_.bind(JobId(5), 0).error(), Errc::invalid);
  ASSERT_TRUE(jobs_.bind(JobId(5), 7).ok());
  EXPECT_EQ(jobs_.bind(JobId(5), 7).error(), Errc::exists);
  EXPECT_EQ(jobs_.bind(JobId(5), 8, Policy::allow).error(), Errc::exists) << "two policies";
  EXPECT_EQ(jobs_.policy_of(JobId(5)), Policy::require);
  ASSERT_TRUE(jobs_.bind(JobId(6), 7).ok());
  ASSERT_TRUE(jobs_.bind(JobId(7), 7).ok());
  EXPECT_EQ(jobs_.bind(JobId(8), 7).error(), Errc::again);
}

}  // namespace
}  // namespace uet::tss
