// The traffic of a step: its bytes are those that step_cost.h counts, and on a fabric of the
// alpha-beta model it takes the time computed by hand.
#include "sim/training/step_traffic.h"

#include "sim/training/step_cost.h"
#include "sim/training/test/ideal_fabric.h"
#include "sim/training/test/tiny.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace uet::sim {
namespace {

double finish(const Training& t) {
  const Traffic traffic = traffic_of_step(t);
  EXPECT_EQ(traffic.problem(), "");
  const Link link{t.cluster.link_gbps, t.cluster.link_latency};
  return static_cast<double>(finish_on_ideal_fabric(traffic, link).ns()) * 1e-9;
}

// Mean bytes of a rank on the fabric, by kind.
std::map<std::string, double> fabric_bytes(const Traffic& traffic) {
  std::map<std::string, double> out;
  for (const Flow& f : traffic.flows) {
    if (!f.is_pause()) {
      out[traffic.kinds[f.kind]] += static_cast<double>(f.bytes) / traffic.hosts;
    }
  }
  return out;
}

TEST(StepTrafficTest, BytesOnTheFabricEqualTheCountedOnes) {
  Training runs[] = {tiny(), tiny(), tiny(), tiny(), tiny()};
  runs[1].parallelism.fsdp = 4;
  runs[2].parallelism = {.dp = 2, .fsdp = 4, .micro_batches = 2, .recompute = Recompute::full};
  runs[2].cluster.gpus_per_node = 4;
  runs[3].parallelism = {.dp = 8, .tp = 2, .pp = 2, .ep = 4, .micro_batches = 2};
  runs[3].model.experts = 8;
  runs[3].model.experts_per_token = 2;
  runs[3].model.expert_parameters = 4e6;
  runs[3].cluster.gpus_per_node = 4;
  runs[4].parallelism = {.fsdp = 4, .tp = 4, .micro_batches = 2, .gathers_once = true};
  for (const Training& t : runs) {
    ASSERT_EQ(t.problem(), "");
    const StepBytes counted = bytes_of_step(t);
    const Traffic traffic = traffic_of_step(t);
    auto there = fabric_bytes(traffic);
    const char* kinds[] = {"dp", "fsdp", "tp", "pp", "ep"};
    for (size_t cause = 0; cause < 5; ++cause) {
      const double expected = counted.mean[cause][1] + counted.mean[cause][2];
      EXPECT_NEAR(there[kinds[cause]], expected, expected * 1e-3) << kinds[cause];
    }
  }
}

// Two stages, 8 ms forward and 16 backward, 25 us for a transfer T. Stage 1 begins at 8 + T and
// runs F0 B0 F1 B1; F2 reaches it at 56 + 3T, after B0 came back at 32 + 2T and stage 0 ran B0 and
// F2. So B2 ends at 80 + 3T, is at stage 0 at 80 + 4T, and there ends at 96 + 4T.
TEST(StepTrafficTest, PassesRunOneForwardAndOneBackward) {
  Training t = tiny();
  t.parallelism = {.pp = 2, .micro_batches = 3};
  t.cluster.gpus_per_node = 1;
  EXPECT_NEAR(finish(t), 96e-3 + 4 * 25e-6, 1e-8);
}

// Replicas reduce after the last pass: as step_cost.h says.
TEST(StepTrafficTest, WithoutAPipelineTheStepTakesTheEstimatedTime) {
  Training t = tiny();
  t.parallelism = {.dp = 4, .tp = 2, .micro_batches = 2};
  EXPECT_NEAR(finish(t), time_of_step(t).total(), 1e-7);
  t.parallelism.tp = 1;
  t.cluster.gpus_per_node = 4;  // all in one node
  EXPECT_NEAR(finish(t), time_of_step(t).total(), 1e-7);
  t.parallelism.dp = 8;  // two levels
  EXPECT_NEAR(finish(t), time_of_step(t).total(), 1e-7);
}

TEST(StepTrafficTest, ShardsAreGatheredBesideComputing) {
  Training t = tiny();
  t.parallelism = {.fsdp = 4, .micro_batches = 3};
  t.cluster.gpus_per_node = 1;
  EXPECT_NEAR(finish(t), time_of_step(t).total(), 2e-4);
}

TEST(StepTrafficTest, ALargeStepIsNearItsEstimate) {
  Training t = tiny();
  t.parallelism = {.dp = 2, .fsdp = 4, .tp = 2, .pp = 4, .ep = 4, .micro_batches = 16};
  t.model.experts = 8;
  t.model.experts_per_token = 2;
  t.model.expert_parameters = 4e6;
  t.cluster.gpus_per_node = 4;
  ASSERT_EQ(t.problem(), "");
  const double estimate = time_of_step(t).total();
  EXPECT_NEAR(finish(t), estimate, estimate * 0.1);
}

}  // namespace
}  // namespace uet::sim
