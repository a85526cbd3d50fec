// Collective operations as tasks, from first principles: which rank sends which part of a vector to
// which other, and after what. All throw TrafficError when there are fewer bytes than parts.
#pragma once

#include "sim/traffic/task_graph.h"

#include <cstdint>
#include <vector>

namespace uet::sim {

// For each rank the tasks after which it may begin, or has all of its result.
using Ends = std::vector<Tasks>;

struct Collective {
  TaskGraph& graph;
  std::vector<uint32_t> hosts;  // of each rank; at least one, all different
  uint64_t bytes;               // of the whole vector
  Ends after{};                 // as many as hosts, or none: all may begin at once
};

// Rings of n ranks, in which each sends to the next one. The vector has n parts.
// Afterwards rank r has the sum of part r. Each sends (n - 1) / n of the bytes in n - 1 rounds.
Ends ring_reduce_scatter(const Collective& c);
// Rank r begins with part r; afterwards each has all. Bytes and rounds as above.
Ends ring_all_gather(const Collective& c);
// Both, one after the other: 2 (n - 1) / n of the bytes in 2 (n - 1) rounds.
Ends ring_all_reduce(const Collective& c);

// Two binary trees, each for a half of the vector, so that an inner rank of one is a leaf of the
// other, where n is even. Each half goes up and down its tree in `chunks` chunks. No rank sends
// more than twice the bytes; the rounds of one chunk are twice the depth of the tree.
Ends double_tree_all_reduce(const Collective& c, uint32_t chunks);

// Recursive halving, then doubling: log2 n rounds each, and 2 (n - 1) / n of the bytes for each
// rank where n is a power of two. Else the surplus ranks give their vector to a neighbour before
// and get the result from it.
Ends halving_doubling_all_reduce(const Collective& c);

// Rank 0 sends to rank 1, that to rank 2, and so on, in `chunks` chunks.
Ends pipeline_broadcast(const Collective& c, uint32_t chunks);

// Mixture of experts: one expert at each rank. Each rank dispatches the bytes to the experts, its
// own one included, each expert computes, and the same bytes come back to be combined.
struct Experts {
  // The k-th most popular of n experts gets a share of 1 / k^skew; 0: all get the same. Which
  // expert is the k-th is drawn.
  double skew = 0;
  uint64_t seed = 1;
  Duration compute = Duration::zero();  // of an expert with the mean load; others in proportion
};
Ends expert_exchange(const Collective& c, const Experts& experts);

// Shares of the n experts, which add up to 1.
std::vector<double> expert_shares(uint32_t n, double skew, uint64_t seed);

// Rounds from the deepest leaf of such a tree of n ranks to its root.
uint32_t tree_depth(uint32_t n);
// Sends of the busiest rank for one chunk of each half: at most 4.
uint32_t tree_sends(uint32_t n);

}  // namespace uet::sim
