// Bytes and time of a training step, counted by hand for the run of tiny.h; and the times of
// collectives, which traffic on a fabric of the same model takes, too.
#include "sim/training/step_cost.h"

#include "sim/training/collective_time.h"
#include "sim/training/test/ideal_fabric.h"
#include "sim/training/test/tiny.h"

#include "sim/traffic/collectives.h"

#include <gtest/gtest.h>

#include <numeric>

namespace uet::sim {
namespace {

Levels mean(const StepBytes& bytes, Cause cause) { return bytes.mean[static_cast<size_t>(cause)]; }

// TP: in 2 layers of a stage 2 + 2 all-reduces of 1 MB for each of 3 micro-batches, among 2 ranks:
// 24 * 2 * 1/2 * 1 MB. PP: each rank sends 3 times half an activation, forward or back. DP:
// gradients of 2e6 parameters, 4 MB, among 2: 2 * 1/2 * 4 MB.
TEST(StepCostTest, BytesOfAStep) {
  const StepBytes bytes = bytes_of_step(tiny());
  EXPECT_EQ(mean(bytes, Cause::tp), (Levels{24e6, 0, 0}));
  EXPECT_EQ(mean(bytes, Cause::pp), (Levels{0, 1.5e6, 0}));
  EXPECT_EQ(mean(bytes, Cause::dp), (Levels{0, 4e6, 0}));
  EXPECT_EQ(mean(bytes, Cause::fsdp), (Levels{0, 0, 0}));
  EXPECT_EQ(mean(bytes, Cause::ep), (Levels{0, 0, 0}));
  EXPECT_EQ(bytes.fabric(), 5.5e6);
  EXPECT_EQ(bytes.rail_share(), 1);
}

// A rank in the middle of 4 stages sends both ways: 3 * 2 * 0.5 MB; those at the ends one way.
TEST(StepCostTest, InnerStagesSendBothWays) {
  Training t = tiny();
  t.parallelism.pp = 4;
  const StepBytes bytes = bytes_of_step(t);
  EXPECT_EQ(bytes.most[static_cast<size_t>(Cause::pp)], 3e6);
  EXPECT_EQ(mean(bytes, Cause::pp), (Levels{0, 2.25e6, 0}));
}

// Weights of 4 MB between 2 shards: 3 * 2 gathers and 3 scatters of half of it; or 1 and 1.
TEST(StepCostTest, ShardsGatherAndScatter) {
  Training t = tiny();
  t.parallelism.dp = 1;
  t.parallelism.fsdp = 2;
  EXPECT_EQ(mean(bytes_of_step(t), Cause::fsdp), (Levels{0, 18e6, 0}));
  EXPECT_EQ(mean(bytes_of_step(t), Cause::dp), (Levels{0, 0, 0}));
  t.parallelism.gathers_once = true;
  EXPECT_EQ(mean(bytes_of_step(t), Cause::fsdp), (Levels{0, 4e6, 0}));
}

// Full recomputation repeats the 2 all-reduces of the forward pass in each layer.
TEST(StepCostTest, FullRecomputationSendsAgain) {
  Training t = tiny();
  t.parallelism.recompute = Recompute::full;
  EXPECT_EQ(mean(bytes_of_step(t), Cause::tp), (Levels{36e6, 0, 0}));
}

// 8 replicas on 2 nodes of 4: 16 MB of gradients are scattered and gathered in the node, 2 * 3/4 of
// them, and a quarter is reduced on each rail, 2 * 1/2 of it.
TEST(StepCostTest, ReplicasOfANodeReduceThereFirst) {
  Training t = tiny();
  t.parallelism = {.dp = 8};
  t.cluster.gpus_per_node = 4;
  EXPECT_EQ(mean(bytes_of_step(t), Cause::dp), (Levels{24e6, 4e6, 0}));
}

// 6 replicas on nodes of 4, so that the nodes have 4 and 2: one ring; the neighbours of ranks 3 and
// 5 are on other nodes. Each sends 2 * 5/6 of 16 MB.
TEST(StepCostTest, UnequalNodesAreOneRing) {
  Training t = tiny();
  t.parallelism = {.dp = 6};
  t.cluster.gpus_per_node = 4;
  const Levels levels = mean(bytes_of_step(t), Cause::dp);
  const double each = 2 * 16e6 * 5 / 6;
  EXPECT_NEAR(levels[0], each * 4 / 6, 1);
  EXPECT_NEAR(levels[1] + levels[2], each * 2 / 6, 1);
}

// Nodes of 4. With two members at the same places of each node there are two rails; at other places
// there are none, nor where one node has more members.
TEST(StepCostTest, MembersAtTheSamePlacesOfEachNodeHaveRails) {
  const auto layout = [](std::vector<uint32_t> members) { return layout_of(members, 4); };
  EXPECT_TRUE(layout({0, 2, 4, 6}).has_levels);
  EXPECT_EQ(layout({0, 2, 4, 6}).nodes, 2u);
  EXPECT_EQ(layout({0, 2, 4, 6}).per_node, 2u);
  EXPECT_FALSE(layout({0, 1, 6, 7}).has_levels);
  EXPECT_FALSE(layout({0, 1, 2, 4}).has_levels);
}

// 8 ranks on 2 nodes of 4 with an expert each. Tokens of 1 MB go to 2 experts each: 2 MB, an eighth
// to each rank: 3 on the node, 1 on the rail, 3 across. 4 layers, to and fro, forward and backward.
TEST(StepCostTest, TokensForExpertsCrossRails) {
  Training t = tiny();
  t.parallelism = {.dp = 8, .ep = 8};
  t.model.experts = 8;
  t.model.experts_per_token = 2;
  t.model.expert_parameters = 4e6;
  t.cluster.gpus_per_node = 4;
  ASSERT_EQ(t.problem(), "");
  const StepBytes bytes = bytes_of_step(t);
  EXPECT_EQ(mean(bytes, Cause::ep), (Levels{16 * 0.75e6, 16 * 0.25e6, 16 * 0.75e6}));
  // Only the other 4e6 parameters are in all replicas: 8 MB.
  EXPECT_EQ(mean(bytes, Cause::dp), (Levels{12e6, 2e6, 0}));
  EXPECT_DOUBLE_EQ(bytes.rail_share(), (4e6 + 2e6) / (16e6 + 2e6));
}

// 16 ms forward and 32 backward for a whole model; here 2 stages and no other parts: 8 and 16 for
// each of 3 micro-batches, one of both as a bubble. A transfer: 5 us + 1 MB at 400 Gb/s, 20 us.
TEST(StepCostTest, TimeOfAStep) {
  Training t = tiny();
  t.parallelism = {.pp = 2, .micro_batches = 3};
  t.cluster.gpus_per_node = 1;
  const StepTime time = time_of_step(t);
  EXPECT_NEAR(time.compute, 72e-3, 1e-9);
  EXPECT_NEAR(time.bubble, 24e-3, 1e-9);
  EXPECT_NEAR(time.transfers, 50e-6, 1e-9);
  EXPECT_NEAR(time.total(), 96.05e-3, 1e-9);
}

// TP: 8 all-reduces for a micro-batch of 1 MB between 2 GPUs, each 2 * (1 us + 0.5 MB at 3,600
// Gb/s, 1.111 us) = 4.222 us. DP: 4 MB between 2 nodes: 2 * (5 us + 2 MB at 400 Gb/s, 40 us).
TEST(StepCostTest, TimeOfCollectives) {
  const StepTime time = time_of_step(tiny());
  EXPECT_NEAR(time.tp, 3 * 8 * 4.2222e-6, 1e-8);
  EXPECT_NEAR(time.dp, 90e-6, 1e-9);
  // Computing is shared by 2 parts and 2 stages: (16 + 32) / 4 * 3 ms.
  EXPECT_NEAR(time.compute, 36e-3, 1e-9);
}

// Gathering 16 MB among 2 takes 165 us, which hides behind 48 ms of computing, but for the first
// one; the last scattering, too.
TEST(StepCostTest, ShardsHideBehindComputing) {
  Training t = tiny();
  t.parallelism = {.fsdp = 2, .micro_batches = 3};
  t.cluster.gpus_per_node = 1;
  EXPECT_NEAR(time_of_step(t).fsdp, 2 * 165e-6, 1e-9);
  // On links of 4 Gb/s, 16 ms each, and a pass of 16 or 32 ms: both still hide; at 2 Gb/s not: the
  // backward pass has a gathering and a scattering, 64 ms, beside 32 ms, the forward one 32
  // beside 16.
  t.cluster.link_gbps = 2;
  t.cluster.link_latency = Duration::zero();
  EXPECT_NEAR(time_of_step(t).fsdp, 3 * (16e-3 + 32e-3) + 2 * 32e-3, 1e-6);
}

class CollectiveTimeTest : public testing::TestWithParam<uint32_t> {
 protected:
  template <typename Make>
  double run(double bytes, Make make) const {
    TaskGraph graph(GetParam());
    std::vector<uint32_t> hosts(GetParam());
    std::iota(hosts.begin(), hosts.end(), 0);
    make(Collective{graph, hosts, static_cast<uint64_t>(bytes)});
    return static_cast<double>(finish_on_ideal_fabric(graph.traffic(), kLink).ns()) * 1e-9;
  }
  static constexpr Link kLink{400, Duration::microseconds(5)};
};

TEST_P(CollectiveTimeTest, TrafficOnAFabricOfTheModelTakesAsLong) {
  const uint32_t n = GetParam();
  for (const double bytes : {64e3, 1e6, 256e6}) {
    const double ring = ring_all_reduce_seconds(bytes, n, kLink);
    EXPECT_NEAR(run(bytes, ring_all_reduce), ring, ring * 0.01) << n << ", " << bytes;
    const double halving = halving_doubling_seconds(bytes, n, kLink);
    EXPECT_NEAR(run(bytes, halving_doubling_all_reduce), halving, halving * 0.01) << n << bytes;
    const double tree = double_tree_seconds(bytes, n, 8, kLink);
    const auto trees = [](const Collective& c) { double_tree_all_reduce(c, 8); };
    EXPECT_NEAR(run(bytes, trees), tree, tree * 0.25) << n << ", " << bytes;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, CollectiveTimeTest, testing::Values(2, 4, 7, 8, 16, 32, 64));

// 1 GB among 8 at 400 Gb/s without latency: 2 * 7/8 * 8e9 bits / 400e9.
TEST(CollectiveTimeByHandTest, ARingOf8) {
  EXPECT_NEAR(ring_all_reduce_seconds(1e9, 8, {400, Duration::zero()}), 35e-3, 1e-9);
  EXPECT_NEAR(ring_all_reduce_seconds(0, 8, {400, Duration::microseconds(5)}), 70e-6, 1e-9);
  EXPECT_NEAR(halving_doubling_seconds(1e9, 8, {400, Duration::zero()}), 35e-3, 1e-9);
  EXPECT_EQ(ring_all_reduce_seconds(1e9, 1, {400, Duration::zero()}), 0);
}

}  // namespace
}  // namespace uet::sim
