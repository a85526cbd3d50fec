// A training run as its users describe it: the model, its distribution over GPUs, and the cluster.
// Also the results of plain arithmetic: the groups of ranks, and the memory of a GPU.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <string>
#include <vector>

namespace uet::sim {

// Activations that the backward pass recomputes instead of keeping them.
enum class Recompute : uint8_t {
  none,
  selective,  // attention scores, as fused attention does
  full        // all but the input of each layer
};

struct Model {
  double parameters = 0;         // all of them
  double expert_parameters = 0;  // of these, in experts; 0: there are none
  uint32_t experts = 0;          // of each layer
  uint32_t experts_per_token = 0;
  uint32_t layers = 0;
  uint32_t hidden = 0;
  uint32_t sequence = 0;  // tokens
  uint32_t heads = 0;     // of attention; needed only without any recomputation
  // Bytes for each parameter; the optimizer's are a master copy and two moments of Adam.
  double weight_bytes = 2;
  double gradient_bytes = 2;
  double optimizer_bytes = 12;

  // Parameters that one token passes through.
  double active_parameters() const;
};

// Ranks are numbered with tensor parallelism as the fastest index, then shards, replicas and
// stages: rank = ((stage * dp + replica) * fsdp + shard) * tp + part.
struct Parallelism {
  uint32_t dp = 1;    // replicas of the (sharded) model
  uint32_t fsdp = 1;  // shards of weights, gradients and optimizer, each with separate data
  uint32_t tp = 1;    // parts of each layer
  uint32_t pp = 1;    // stages of a pipeline
  uint32_t ep = 1;    // ranks among the dp * fsdp that share the experts of a layer
  uint32_t micro_batches = 1;  // of each dp and fsdp rank, in a step
  uint32_t micro_batch = 1;    // sequences
  Recompute recompute = Recompute::selective;
  // FSDP gathers weights and scatters gradients once in a step; else for each micro-batch.
  bool gathers_once = false;
};

// GPUs of a node have links among themselves; each has a NIC, and NIC i of all nodes is on rail i.
struct Cluster {
  uint32_t gpus_per_node = 8;
  double scale_up_gbps = 3600;  // of a GPU, in one direction
  Duration scale_up_latency = Duration::microseconds(1);
  double link_gbps = 400;                             // of a NIC
  Duration link_latency = Duration::microseconds(5);  // from host to host, with its software
  double gpu_tflops = 989;                            // peak
  double efficiency = 0.5;                            // share of the peak that computing reaches
};

struct Training {
  Model model;
  Parallelism parallelism;
  Cluster cluster;

  uint32_t ranks() const;
  // The impossible combination; empty: none. Names the key of the file.
  std::string problem() const;

  double dense_parameters_of_rank() const;  // before they are sharded
  double expert_parameters_of_rank() const;
  double activation_bytes() const;  // of one micro-batch between two layers
  double tokens_of_step() const;
  // Work of one rank for one micro-batch, forward; backward is twice that.
  double forward_flop() const;
};

// Ranks that take part in a collective: `count` of them, at a distance of `stride`.
struct Group {
  uint32_t stride = 1;
  uint32_t count = 1;

  uint32_t first(uint32_t rank) const { return rank - rank / stride % count * stride; }
  std::vector<uint32_t> members(uint32_t rank) const;
};

struct Groups {
  Group tp, ep, fsdp, dp;
  Group expert_fsdp, expert_dp;  // the part of shards and replicas for parameters of experts
  Group stages;
};
Groups groups_of(const Parallelism& p);

struct RankMemory {
  double weights = 0;   // bytes of the rank that needs most, which is in the first stage
  double gathered = 0;  // two layers of FSDP that are whole for a while
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  double total() const { return weights + gathered + gradients + optimizer + activations; }
};
RankMemory memory_of(const Training& training);

}  // namespace uet::sim
