// some_seeds SEED...: runs each seed as `uet_sim --seed SEED` does. For builds with sanitizers,
// where the command line and the reports of uet_sim take longer to compile than the seeds to run.
#include "sim/simulation.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  int failed = 0;
  for (int i = 1; i < argc; ++i) {
    const uint64_t seed = std::strtoull(argv[i], nullptr, 10);
    const std::string violation = uet::sim::run(uet::sim::Plan::draw(seed), seed).violation;
    if (violation.empty()) continue;
    ++failed;
    std::printf("FAILED seed %s: %s\n  replay: uet_sim --seed %s --verbose\n", argv[i],
                violation.c_str(), argv[i]);
  }
  std::printf("%d of %d seeds failed\n", failed, argc - 1);
  return failed == 0 && argc > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
