// The command line of the stress program, and what it says of a run.
#include "tools/common/command_line.h"
#include "tools/stress/director.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

using namespace uet::stress;

void add_options(CLI::App& app, Options& options) {
  app.add_option("--seed", options.seed, "Decides all choices (default: from the clock)");
  app.add_option("--provider", options.provider, "Name of the libfabric provider")
      ->capture_default_str();
  app.add_option("--duration", options.duration_s, "Seconds")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--processes", options.processes, "Processes")
      ->check(CLI::Range(2, 200))
      ->capture_default_str();
  app.add_option("--peers", options.peers, "Processes that each of them sends to")
      ->check(CLI::Range(1, 199))
      ->capture_default_str();
  app.add_option("--max-size", options.bytes_max, "Longest message, octets")
      ->check(CLI::Range(1, 1 << 28))
      ->capture_default_str();
  app.add_option("--window", options.window, "Operations of a process at once")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--kill-every", options.kill_ms, "Mean ms between ends of processes; 0: none end")
      ->capture_default_str();
  app.add_option("--stop-every", options.stop_ms, "Mean ms between stops (SIGSTOP); 0: none")
      ->capture_default_str();
  app.add_option("--stop-max", options.stop_max_ms, "Longest stop, ms")
      ->check(CLI::Range(1, 30000))
      ->capture_default_str();
  app.add_option("--slow-max", options.slow_max_ms,
                 "Longest time in ms without a call, or without new receives; 0: none")
      ->check(CLI::Range(0, 30000))
      ->capture_default_str();
  app.add_option("--order", options.order, "Endpoints that promise an order: none, all or random")
      ->check(CLI::IsMember({"none", "all", "random"}))
      ->capture_default_str();
  app.add_option("--only", options.only, "Operations: send, tagged, write, read, atomic");
  app.add_option("--hosts", options.hosts, "Loopback addresses to spread over")
      ->check(CLI::Range(1, 250))
      ->capture_default_str();
  app.add_flag("--same-name", options.same_name, "Processes that begin anew keep their address");
  app.add_option("--multi-receive", options.multi_recv, "0: no multi-receive buffers")
      ->capture_default_str();
  app.add_option("--patience", options.patience_s, "Seconds that an operation may take")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--interval", options.interval_s, "Seconds between lines of progress")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--logs", options.logs, "Folder for the words of the processes");
  app.add_option("--json", options.json, "Write the result to this file");
  app.add_flag("--verbose", options.verbose, "Say how each process behaves");
  app.footer("Exit status: 0 nothing wrong, 1 a defect was found, 2 bad usage, 130 interrupted.");
}

void print(const Verdict& verdict) {
  std::printf("\n%-16s %12s\n", "operations", "count");
  for (size_t i = 0; i < kCounts; ++i) {
    std::printf("%-16s %12llu\n", kCountNames[i],
                static_cast<unsigned long long>(verdict.tally[i]));
  }
  std::printf(
      "\nends of processes: %llu by SIGKILL, %llu after closing, %llu by exit();"
      " %llu stops\n",
      static_cast<unsigned long long>(verdict.killed),
      static_cast<unsigned long long>(verdict.left),
      static_cast<unsigned long long>(verdict.exited),
      static_cast<unsigned long long>(verdict.stopped));
  std::printf(
      "failures toward processes that had ended: %llu; receives and injected messages that"
      " ended with one: %llu\n",
      static_cast<unsigned long long>(verdict.failures_expected),
      static_cast<unsigned long long>(verdict.receives_failed));
  for (const std::string& defect : verdict.defects) std::printf("DEFECT %s\n", defect.c_str());
  std::printf("%s after %.0f s, %zu defects\n", verdict.outcome.c_str(), verdict.seconds,
              verdict.defects.size());
}

bool write_json(const Options& options, const Verdict& verdict) {
  nlohmann::ordered_json json;
  json["outcome"] = verdict.outcome;
  json["seed"] = options.seed;
  json["provider"] = options.provider;
  json["processes"] = options.processes;
  json["peers"] = options.peers;
  json["seconds"] = verdict.seconds;
  for (size_t i = 0; i < kCounts; ++i) json["counts"][kCountNames[i]] = verdict.tally[i];
  json["killed"] = verdict.killed;
  json["left"] = verdict.left;
  json["exited"] = verdict.exited;
  json["stopped"] = verdict.stopped;
  json["failures_expected"] = verdict.failures_expected;
  json["receives_failed"] = verdict.receives_failed;
  json["defects"] = verdict.defects;
  std::ofstream file(options.json);
  file << json.dump(2) << "\n";
  return file.good();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Random operations between processes that are stopped, killed and begun anew,"
      " each octet checked",
      "uet_stress");
  add_options(app, options);
  if (const auto status = uet::tools::parse(app, argc, argv)) return *status;
  if (options.peers >= options.processes) {
    return uet::tools::misuse(app, "--peers must be fewer than --processes");
  }
  if (options.seed == 0) {
    options.seed =
        mix(static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count())) >>
        32;
  }
  const bool own_logs = options.logs.empty();
  if (own_logs) {
    std::string folder = std::filesystem::temp_directory_path() / "uet-stress.XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) return 1;
    options.logs = folder;
  }
  std::filesystem::create_directories(options.logs);
  std::printf("seed %llu: %u processes over %s, %u peers each, %u s\n",
              static_cast<unsigned long long>(options.seed), options.processes,
              options.provider.c_str(), options.peers, options.duration_s);
  std::fflush(stdout);
  const Verdict verdict = Director(options).run();
  print(verdict);
  if (!options.json.empty() && !write_json(options, verdict)) return 1;
  if (verdict.outcome == "passed" && own_logs) std::filesystem::remove_all(options.logs);
  return verdict.outcome == "passed" ? 0 : verdict.outcome == "failed" ? 1 : 130;
}
