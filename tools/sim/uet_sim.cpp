// Command line of the simulator: runs seeds, prints one line per failure that replays it, and
// checks that the fault paths of the stack were all taken over the whole set.
#include "sim/coverage_exempt.h"
#include "sim/simulation.h"
#include "tools/common/command_line.h"
#include "tools/sim/compare.h"
#include "tools/sim/plan.h"
#include "tools/sim/run.h"
#include "tools/sim/sweep.h"
#include "tools/sim/traffic.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace {

using uet::sim::Plan;
using uet::sim::RunResult;

// From a name to the number that CLI11 reads an enumeration from. Empty, or what is wrong.
std::string to_algorithm(std::string& name) {
  std::string names;
  for (const uet::cms::NamedAlgorithm& named : uet::cms::kAlgorithms) {
    if (name == named.name) {
      name = std::to_string(static_cast<int>(named.algorithm));
      return {};
    }
    names += std::string(names.empty() ? "" : ", ") + named.name;
  }
  return name + " is not an algorithm: use one of " + names;
}

// The values on the command line that replace those of the seed.
struct Instead {
  bool calm = false;
  bool lengths_only = false;
  bool secured = false;
  std::optional<uint32_t> endpoints, operations, message_bytes;
  std::optional<uet::cms::Algorithm> congestion;

  Plan plan(uint64_t seed) const {
    Plan out = calm ? Plan::calm() : Plan::draw(seed);
    out.lengths_only = lengths_only;
    out.secured = secured;
    out.endpoints = endpoints.value_or(out.endpoints);
    out.operations = operations.value_or(out.operations);
    out.message_bytes_max = message_bytes.value_or(out.message_bytes_max);
    out.congestion = congestion.value_or(out.congestion);
    return out;
  }
  // These options again, for the line that replays a run.
  std::string words() const {
    std::string out = calm ? " --calm" : "";
    if (lengths_only) out += " --lengths-only";
    if (secured) out += " --secured";
    const auto add = [&out](const char* name, const std::optional<uint32_t>& value) {
      if (value) out += std::string(" ") + name + " " + std::to_string(*value);
    };
    add("--endpoints", endpoints);
    add("--operations", operations);
    add("--message-bytes", message_bytes);
    if (congestion) out += std::string(" --cc ") + uet::cms::name_of(*congestion);
    return out;
  }
};

struct Options {
  std::vector<uint64_t> seeds{1};
  Instead instead;
  uint64_t count = 1;
  bool verbose = false;
  bool json = false;
  bool twice = false;
  bool coverage = false;
  std::string record;  // a folder
};

void print_counters(const std::map<std::string, uint64_t>& counters) {
  for (const auto& [name, value] : counters) {
    std::printf("  %-40s %llu\n", name.c_str(), static_cast<unsigned long long>(value));
  }
}

std::vector<std::string> uncovered(const std::map<std::string, uint64_t>& counters) {
  std::vector<std::string> out;
  for (const auto& [name, value] : counters) {
    if (value != 0) continue;
    bool exempt = false;
    for (const uet::sim::Exempt& e : uet::sim::kExempt) exempt |= name == e.name;
    if (!exempt) out.push_back(name);
  }
  return out;
}

// Runs a seed, and records it where a folder is given. The run of a recording that cannot be
// written has failed.
RunResult run_one(const Plan& plan, uint64_t seed, const std::string& folder) {
  if (folder.empty()) return uet::sim::run(plan, seed);
  const std::string name = "seed-" + std::to_string(seed);
  RunResult result;
  const auto writer = uet::recording::Writer::create(folder + "/" + name + ".uetrec",
                                                     {"uet_sim", name, seed}, result.violation);
  if (writer == nullptr) return result;
  result = uet::sim::run(plan, seed, writer.get());
  const std::string problem = writer->finish();
  if (result.violation.empty()) result.violation = problem;
  return result;
}

int run_all(const Options& options) {
  std::FILE* const people = options.json ? stderr : stdout;
  std::map<std::string, uint64_t> total;
  uint64_t failures = 0, packets = 0;
  std::vector<uint64_t> seeds;
  for (const uint64_t first : options.seeds) {
    for (uint64_t i = 0; i < options.count; ++i) seeds.push_back(first + i);
  }
  for (const uint64_t seed : seeds) {
    const Plan plan = options.instead.plan(seed);
    if (options.verbose) {
      std::fprintf(people, "seed %llu: %s\n", static_cast<unsigned long long>(seed),
                   plan.describe().c_str());
      std::fflush(people);
    }
    RunResult result = run_one(plan, seed, options.record);
    if (result.violation.empty() && options.twice &&
        uet::sim::run(plan, seed).digest != result.digest) {
      result.violation = "a second run of the seed sent other packets";
    }
    if (!result.violation.empty()) {
      ++failures;
      std::fprintf(people, "FAILED seed %llu: %s\n  replay: uet_sim --seed %llu%s --verbose\n",
                   static_cast<unsigned long long>(seed), result.violation.c_str(),
                   static_cast<unsigned long long>(seed), options.instead.words().c_str());
      std::fflush(people);
    }
    packets += result.packets;
    for (const auto& [name, value] : result.counters) total[name] += value;
    if (options.verbose) {
      std::fprintf(people, "  %llu packets, %lld us simulated, digest %016llx\n",
                   static_cast<unsigned long long>(result.packets),
                   static_cast<long long>(result.simulated.us()),
                   static_cast<unsigned long long>(result.digest));
    }
  }
  const auto missing = options.coverage ? uncovered(total) : std::vector<std::string>{};
  if (options.json) {
    nlohmann::json out = {{"first_seed", seeds.front()}, {"seeds", seeds.size()},
                          {"failures", failures},        {"packets", packets},
                          {"counters", total},           {"never_taken", missing}};
    std::printf("%s\n", out.dump(2).c_str());
  } else {
    if (options.verbose) print_counters(total);
    for (const std::string& name : missing) std::printf("NEVER TAKEN: %s\n", name.c_str());
    std::printf("%llu seeds from %llu: %llu failed, %llu packets\n",
                static_cast<unsigned long long>(seeds.size()),
                static_cast<unsigned long long>(seeds.front()),
                static_cast<unsigned long long>(failures),
                static_cast<unsigned long long>(packets));
  }
  return failures || !missing.empty() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Runs the uet stack between simulated endpoints under faults drawn from a seed.\n"
      "Exit status: 0 every oracle held, 1 an oracle failed, 2 wrong usage.",
      "uet_sim"};
  app.add_option("--seed", options.seeds, "First seed, or several")
      ->check(uet::tools::whole_number())
      ->capture_default_str();
  app.add_option("--count", options.count, "Number of seeds to run, from each given seed on")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->capture_default_str();
  app.add_flag("--calm", options.instead.calm,
               "Default settings and a network without faults, not those of the seed");
  app.add_flag("--lengths-only", options.instead.lengths_only,
               "Do not fill or compare payload, only its lengths: faster, less memory");
  app.add_flag("--secured", options.instead.secured,
               "Seal all packets, with keys that are replaced every 400 ms");
  app.add_option("--endpoints", options.instead.endpoints,
                 "Number of endpoints (default: from the seed)")
      ->check(CLI::Range(2, 65536));
  app.add_option("--operations", options.instead.operations,
                 "Number of operations (default: from the seed)")
      ->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--message-bytes", options.instead.message_bytes,
                 "Octets of the longest message (default: from the seed)")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--cc", options.instead.congestion,
                 "Congestion control: aimd, fixed, nscc, ... (default: from the seed)")
      ->transform(CLI::Validator(to_algorithm, "NAME"));
  app.add_flag("--verbose,-v", options.verbose, "Print each plan, and all counters at the end");
  app.add_flag("--json", options.json, "Print JSON, and everything else to standard error");
  app.add_flag("--twice", options.twice, "Run each seed twice and compare every packet");
  app.add_flag("--coverage", options.coverage,
               "Fail if a path that drops, refuses or resends was never taken");
  app.add_option("--record", options.record,
                 "Write each run to a file in this folder, for uet_replay")
      ->check(CLI::ExistingDirectory);
  const auto plan = uet::tools::add_plan(app);
  const auto run_fabric = uet::tools::add_run(app);
  const auto compare = uet::tools::add_compare(app);
  const auto traffic = uet::tools::add_traffic(app);
  uet::tools::add_sweep(app);
  if (uet::tools::is_sweep(argc, argv)) return uet::tools::run_sweep(app, argv);
  if (const auto status = uet::tools::parse(app, argc, argv)) return *status;
  if (app.got_subcommand("sweep")) return uet::tools::misuse(app, "sweep is the first word");
  const int status = app.got_subcommand("plan")      ? plan()
                     : app.got_subcommand("run")     ? run_fabric()
                     : app.got_subcommand("compare") ? compare()
                     : app.got_subcommand("traffic") ? traffic()
                                                     : run_all(options);
  return uet::tools::ended(app, status);
}
