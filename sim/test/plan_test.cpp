// Which plans may end an operation although no peer is at fault.
#include "sim/plan.h"

#include <gtest/gtest.h>

namespace uet::sim {
namespace {

// [SES-118, SES-191] The application is slow for longer than the peer accepts refusals. Messages
// that stop half-way then occupy all records, if there are fewer records than messages.
TEST(PlanTest, FewRecordsOfMessagesEndOperationsOfASlowApplication) {
  Plan plan;
  plan.operations = 120;
  plan.slow_application = Duration::seconds(339);
  plan.unexpected_messages = 8;
  EXPECT_FALSE(plan.outlasts_refusals());
  plan.rx_messages = 2;
  EXPECT_TRUE(plan.outlasts_refusals());
  plan.slow_application = Duration::seconds(299);
  EXPECT_FALSE(plan.outlasts_refusals());
}

// [SES-118, PDS-148] If packets are lost and many messages share a record, one of the messages may
// be refused until its sender gives up. Without losses no message is refused for that long.
TEST(PlanTest, ManyMessagesForEachRecordEndOperationsWherePacketsAreLost) {
  Plan plan;
  plan.operations = 600;
  plan.endpoints = 3;
  plan.rx_messages = 1;
  EXPECT_FALSE(plan.may_fail());
  plan.faults.loss = 0.3;
  EXPECT_TRUE(plan.may_fail());
  plan.rx_messages = 5;
  EXPECT_FALSE(plan.may_fail());
  plan.rx_messages = 1;
  plan.endpoints = 15;
  EXPECT_FALSE(plan.may_fail());
}

// [PDS-102, PDS-150] With one place for responses a PDC takes packets in order only, so the time
// limit of a run is the one of runs that go back.
TEST(PlanTest, OnePlaceForResponsesGoesBack) {
  Plan plan;
  EXPECT_FALSE(plan.goes_back());
  plan.gd_per_pdc = 2;
  EXPECT_FALSE(plan.goes_back());
  plan.gd_per_pdc = 1;
  EXPECT_TRUE(plan.goes_back());
}

}  // namespace
}  // namespace uet::sim
