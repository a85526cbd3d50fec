// One deterministic run: endpoints, network, workload and oracles, driven by simulated time.
// The result is a function of the seed. [architecture 7, 8]
#pragma once

#include "sim/plan.h"

#include "sim/recording/file.h"

#include <cstdint>
#include <map>
#include <string>

namespace uet::sim {

struct RunResult {
  std::string violation;  // empty: every oracle held
  uint64_t digest = 0;    // of every packet of every endpoint, in order
  uint64_t packets = 0;
  Duration simulated;
  // Every counter of the stack, summed over endpoints: which paths this run took.
  std::map<std::string, uint64_t> counters;
};

// With a writer, what each FabricEndpoint is given and gives is recorded.
RunResult run(const Plan& plan, uint64_t seed, recording::Writer* writer = nullptr);

}  // namespace uet::sim
