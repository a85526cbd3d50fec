// Groups, memory and problems of a training run.
#include "sim/training/training.h"

#include "sim/training/test/tiny.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace uet::sim {
namespace {

using Members = std::vector<uint32_t>;

// rank = ((stage * 2 + replica) * 1 + shard) * 2 + part.
TEST(TrainingTest, GroupsFollowTheOrderOfRanks) {
  const Training t = tiny();
  const Groups groups = groups_of(t.parallelism);
  EXPECT_EQ(t.ranks(), 8u);
  EXPECT_EQ(groups.tp.members(5), (Members{4, 5}));
  EXPECT_EQ(groups.dp.members(5), (Members{5, 7}));
  EXPECT_EQ(groups.fsdp.members(5), (Members{5}));
  EXPECT_EQ(groups.stages.members(5), (Members{1, 5}));
}

// 2 replicas of 4 shards, experts over 2 ranks: each expert's parameters have 2 shards at a
// distance of 2, in 2 replicas at a distance of 4.
TEST(TrainingTest, ExpertsAreShardedByTheRemainingRanks) {
  const Groups groups = groups_of({.dp = 2, .fsdp = 4, .ep = 2});
  EXPECT_EQ(groups.ep.members(5), (Members{4, 5}));
  EXPECT_EQ(groups.expert_fsdp.members(5), (Members{5, 7}));
  EXPECT_EQ(groups.expert_dp.members(5), (Members{1, 5}));
  // Over all 8: nothing is left. Over 4 of 8 replicas: the other half is a replica.
  EXPECT_EQ(groups_of({.dp = 2, .fsdp = 4, .ep = 8}).expert_dp.count, 1u);
  EXPECT_EQ(groups_of({.dp = 8, .fsdp = 1, .ep = 4}).expert_dp.members(5), (Members{1, 5}));
}

// 8e6 parameters / tp 2 / pp 2 / fsdp 2 = 1e6. A layer's activations: 34 * 500 * 1,000 / tp 2 =
// 8.5 MB; 2 layers of the stage, 2 micro-batches in flight. Two layers are all of a stage.
TEST(TrainingTest, MemoryOfARank) {
  Training t = tiny();
  t.parallelism.dp = 1;
  t.parallelism.fsdp = 2;
  RankMemory memory = memory_of(t);
  EXPECT_EQ(memory.weights, 2e6);
  EXPECT_EQ(memory.gradients, 2e6);
  EXPECT_EQ(memory.optimizer, 12e6);
  EXPECT_EQ(memory.gathered, 4e6);
  EXPECT_EQ(memory.activations, 34e6);
  EXPECT_EQ(memory.total(), 54e6);
  // A single micro-batch is all that can be in flight.
  t.parallelism.micro_batches = 1;
  EXPECT_EQ(memory_of(t).activations, 17e6);
  t.parallelism.micro_batches = 3;
  // Only inputs of layers, 2 * 250,000 bytes each, and one layer that is computed again.
  t.parallelism.recompute = Recompute::full;
  EXPECT_EQ(memory_of(t).activations, 4 * 0.5e6 + 8.5e6);
  // Scores of 10 heads: 5 * 10 * 500 * 500 / tp 2 = 6.25 MB more in each layer.
  t.parallelism.recompute = Recompute::none;
  t.model.heads = 10;
  EXPECT_EQ(memory_of(t).activations, 4 * (8.5e6 + 6.25e6));
}

// All 4 MB of weights are kept during a step, and the gradients are not scattered before its end.
TEST(TrainingTest, GatheringOnceTakesMemory) {
  Training t = tiny();
  t.parallelism.dp = 1;
  t.parallelism.fsdp = 2;
  t.parallelism.gathers_once = true;
  EXPECT_EQ(memory_of(t).gathered, 4e6);
  EXPECT_EQ(memory_of(t).gradients, 4e6);
}

// 16 experts, and a token passes 2 of them: an eighth of the 6e6 parameters of experts is active.
TEST(TrainingTest, ActiveParametersIncludeTheExpertsOfAToken) {
  Model m{.parameters = 8e6, .expert_parameters = 6e6, .experts = 16, .experts_per_token = 2};
  EXPECT_EQ(m.active_parameters(), 2e6 + 0.75e6);
}

TEST(TrainingTest, ProblemsNameTheKey) {
  const auto problem = [](auto change) {
    Training t = tiny();
    EXPECT_EQ(t.problem(), "");
    change(t);
    return t.problem();
  };
  EXPECT_EQ(problem([](Training& t) { t.model.layers = 0; }), "layers is 1 to 1048576, not 0");
  EXPECT_EQ(problem([](Training& t) { t.model.parameters = 0; }), "parameters must be above 0");
  EXPECT_EQ(problem([](Training& t) { t.parallelism.pp = 3; }),
            "pp = 3 does not divide layers = 4");
  EXPECT_EQ(problem([](Training& t) { t.parallelism.tp = 3; }),
            "tp = 3 does not divide hidden = 1000");
  EXPECT_EQ(problem([](Training& t) { t.parallelism.ep = 2; }), "ep needs experts");
  EXPECT_EQ(problem([](Training& t) { t.model.experts = 4; }), "experts_per_token is 1 to experts");
  EXPECT_EQ(problem([](Training& t) { t.parallelism.dp = t.parallelism.fsdp = 1 << 20; }),
            "dp * fsdp * tp * pp is at most 1048576");
  EXPECT_EQ(problem([](Training& t) { t.parallelism.recompute = Recompute::none; }),
            "recompute = none needs heads");
  EXPECT_EQ(problem([](Training& t) { t.cluster.efficiency = 1.5; }), "efficiency is at most 1");
}

}  // namespace
}  // namespace uet::sim
