// Traffic made by rule: incast, permutation, all-to-all and their like. The same parameters and
// seed give the same traffic on every machine.
#pragma once

#include "sim/traffic/sizes.h"
#include "sim/traffic/traffic.h"

#include <cstdint>

namespace uet::sim {

struct Pattern {
  uint32_t hosts = 0;  // at least 2
  uint64_t bytes = 0;  // of each flow, above 0
  uint64_t seed = 1;
};

// All throw TrafficError, which names the parameter, when one is out of its range.

// `senders` other hosts, drawn at random, send to one, all at time 0.
Traffic incast(const Pattern& pattern, uint32_t senders, uint32_t receiver);
// One host sends to `receivers` others, drawn at random.
Traffic outcast(const Pattern& pattern, uint32_t receivers, uint32_t sender);
// Each host sends to one other and receives from one other: a random derangement.
Traffic permutation(const Pattern& pattern);
// Host h sends to h + stride, in a ring of all hosts; the stride is below the hosts.
Traffic ring(const Pattern& pattern, uint32_t stride);
// Groups of neighbouring hosts; each host sends to each other of its group in a random order, so
// many at a time; group 0: all hosts are one. A group divides the hosts.
Traffic all_to_all(const Pattern& pattern, uint32_t group, uint32_t parallel);

struct Arrivals {
  uint32_t hosts = 0;
  double load = 0.5;  // mean share of each host's link in use, above 0; 1 is the whole rate
  double link_gbps = 100;
  Duration time = Duration::milliseconds(1);  // flows arrive within it
  uint64_t seed = 1;
};
// Flows between random pairs arrive at random moments, by a Poisson process for all hosts together.
Traffic poisson(const Arrivals& arrivals, const SizeDistribution& sizes);

}  // namespace uet::sim
