// Cost of one training step: its collectives, the bytes that each rank sends for them on each level
// of the cluster, and the time by the alpha-beta model.
#pragma once

#include "sim/training/training.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace uet::sim {

enum class Cause : uint8_t {
  dp,
  fsdp,
  tp,
  pp,
  ep
};
inline constexpr std::array<const char*, 5> kCauseNames = {"DP", "FSDP", "TP", "PP", "EP"};

enum class Level : uint8_t {
  scale_up,    // within a node
  same_rail,   // between nodes, to a NIC of the same rail
  cross_rail,  // to another rail
};
inline constexpr std::array<const char*, 3> kLevelNames = {"scale-up", "same rail", "cross-rail"};

enum class CollectiveKind : uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all
};

// A collective that every rank takes part in, in its group.
struct Use {
  Cause cause;
  CollectiveKind kind;
  Group group;
  double bytes;  // of the whole vector; all_to_all: of one rank for all ranks, itself included
  double forward = 0, backward = 0;  // how often in each micro-batch
  double once = 0;                   // and how often in the step

  double times(uint32_t micro_batches) const { return micro_batches * (forward + backward) + once; }
};
// Groups of one rank are left out. Pipelines have no collective.
std::vector<Use> uses_of(const Training& training);

// How the members of a group lie on nodes. If each node has the same number of members, at the same
// places, collectives work in two levels: within the node, and on each rail among the nodes.
// Otherwise they are one ring in the order of ranks.
struct Layout {
  uint32_t nodes = 1;
  uint32_t per_node = 1;
  bool has_levels = true;
};
Layout layout_of(std::span<const uint32_t> members, uint32_t gpus_per_node);

using Levels = std::array<double, 3>;

// Bytes that the member at `index` sends for one collective. The layout is that of the members.
Levels bytes_of(const Use& use, std::span<const uint32_t> members, const Layout& layout,
                uint32_t index, uint32_t gpus_per_node);
double seconds_of(const Use& use, std::span<const uint32_t> members, const Cluster& cluster);

struct StepBytes {
  std::array<Levels, 5> mean{};  // of all ranks, by cause
  std::array<double, 5> most{};  // of the rank that sends most for the cause
  double fabric() const;         // mean of a rank, same rail and cross-rail
  double rail_share() const;     // of these, the part that stays on its rail; 1 if there are none
};
StepBytes bytes_of_step(const Training& training);

// Seconds. Weights are gathered and gradients scattered beside computing, by FSDP; replicas are
// reduced after the last micro-batch; all other parts run one after the other.
struct StepTime {
  double compute = 0;
  double tp = 0;
  double ep = 0;
  double bubble = 0;     // stages without work at both ends of the pipeline
  double transfers = 0;  // of activations through the pipeline, once up and down
  double fsdp = 0;       // what computing does not hide
  double dp = 0;
  double total() const { return compute + tp + ep + bubble + transfers + fsdp + dp; }
};
StepTime time_of_step(const Training& training);

}  // namespace uet::sim
