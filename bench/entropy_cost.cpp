// Cost of choosing an entropy value and of its feedback, in nanoseconds for each packet, by the way
// to choose. 64 packets are in flight; the feedback is the same for all ways.
#include "cms/entropy_selector.h"
#include "tools/common/command_line.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

using namespace uet;
using namespace uet::cms;

constexpr uint32_t kInFlight = 64;

struct Way {
  const char* name;
  Spraying spraying;
};
constexpr Way kWays[] = {{"oblivious", Spraying::oblivious},
                         {"bitmap", Spraying::bitmap},
                         {"reps", Spraying::reps},
                         {"mixed", Spraying::mixed}};

// One packet in `marked` is marked, one in 1,000 lost; none if `marked` is 0.
std::vector<PathFeedback> feedback(uint32_t packets, uint32_t marked) {
  Rng rng(1);
  std::vector<PathFeedback> all(packets, PathFeedback::good);
  for (PathFeedback& one : all) {
    if (marked == 0) continue;
    if (rng.below(marked) == 0) one = PathFeedback::ecn;
    if (rng.below(1000) == 0) one = PathFeedback::timeout;
  }
  return all;
}

double ns_a_packet(Spraying spraying, const std::vector<PathFeedback>& heard) {
  Config config;
  config.entropy_values = 256;
  config.entropy.reuse_rtts = 0;
  config.entropy.spraying = spraying;
  Rng rng(7);
  EntropySelector selector(config, rng);
  std::array<Entropy, kInFlight> sent{};
  Instant now = Instant::from_ns(1'000'000'000);
  for (Entropy& ev : sent) ev = selector.next(now);
  uint32_t strange = 0;
  const auto begun = std::chrono::steady_clock::now();
  for (uint32_t i = 0; i < heard.size(); ++i) {
    Entropy& ev = sent[i % kInFlight];
    now = now + Duration::nanoseconds(200);
    if (!selector.on_feedback(ev, heard[i], now)) ++strange;
    ev = selector.next(now);
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begun;
  return strange == 0 ? took.count() / static_cast<double>(heard.size()) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Prints the time to choose an entropy value and to process feedback about it.",
               "entropy_cost");
  uint32_t packets = 5'000'000;
  uint32_t runs = 5;
  app.add_option("--packets", packets, "packets of a run")->check(CLI::Range(1000u, 100'000'000u));
  app.add_option("--runs", runs, "runs, of which the fastest counts")->check(CLI::Range(1u, 100u));
  if (const auto status = uet::tools::parse(app, argc, argv)) return *status;

  std::printf("%-10s %9s %9s %12s\n", "way", "marked", "ns", "of oblivious");
  for (const uint32_t marked : {0u, 100u, 4u}) {
    const std::vector<PathFeedback> heard = feedback(packets, marked);
    double first = 0;
    for (const Way& way : kWays) {
      double best = ns_a_packet(way.spraying, heard);
      for (uint32_t run = 1; run < runs; ++run) {
        best = std::min(best, ns_a_packet(way.spraying, heard));
      }
      if (first == 0) first = best;
      std::printf("%-10s %8.1f%% %9.1f %12.2f\n", way.name, marked == 0 ? 0 : 100.0 / marked, best,
                  best / first);
    }
  }
  return 0;
}
