// How long collectives take on links of one rate and latency, when nothing else is sent: the
// alpha-beta model. A message of B bytes takes latency + B / rate; a host sends one at a time.
#pragma once

#include "base/time.h"

#include <cstdint>

namespace uet::sim {

struct Link {
  double gbps;
  Duration latency;  // from host to host

  double seconds(double bytes) const;  // of one message
};

// In seconds, for a vector of `bytes` bytes and n ranks; 0 for one rank.
double ring_all_reduce_seconds(double bytes, uint32_t n, const Link& link);
// All-gather and reduce-scatter in a ring: half of the above.
double ring_half_seconds(double bytes, uint32_t n, const Link& link);
// Two trees in `chunks` chunks: a first chunk up and down the tree, behind which the others follow
// as fast as the busiest rank sends: four parts of a chunk's half for each.
double double_tree_seconds(double bytes, uint32_t n, uint32_t chunks, const Link& link);
double halving_doubling_seconds(double bytes, uint32_t n, const Link& link);

}  // namespace uet::sim
