// The command line of the stress program, and its report of a run.
#include "tools/common/command_line.h"
#include "tools/stress/director.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace {

using namespace uet::stress;
using Json = nlohmann::ordered_json;

void add_options(CLI::App& app, Options& options) {
  app.add_option("--seed", options.seed, "Decides all choices (default: from the clock)");
  app.add_option("--provider", options.provider, "Name of the libfabric provider")
      ->capture_default_str();
  app.add_option("--duration", options.duration_s, "Seconds to run")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--processes", options.processes, "Number of processes")
      ->check(CLI::Range(2, 200))
      ->capture_default_str();
  app.add_option("--peers", options.peers, "Number of processes that each process sends to")
      ->check(CLI::Range(1, 199))
      ->capture_default_str();
  app.add_option("--max-size", options.bytes_max, "Octets of the longest message")
      ->check(CLI::Range(1, 1 << 28))
      ->capture_default_str();
  app.add_option("--window", options.window, "Operations in progress in a process")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--kill-every", options.kill_ms, "Mean ms between ends of processes; 0: none end")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  app.add_option("--stop-every", options.stop_ms, "Mean ms between stops (SIGSTOP); 0: none")
      ->check(CLI::Range(0, 1000000000))
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
  app.add_option("--only", options.only,
                 "Operations, joined by commas: send, tagged, write, read, atomic")
      ->delimiter(',')
      ->check(CLI::IsMember({"send", "tagged", "write", "read", "atomic"}));
  app.add_option("--hosts", options.hosts, "Loopback addresses to spread over")
      ->check(CLI::Range(1, 250))
      ->capture_default_str();
  app.add_flag("--same-name", options.same_name, "Processes that restart keep their address");
  app.add_flag_callback(
      "--no-multi-receive", [&options] { options.multi_recv = false; },
      "No process posts multi-receive buffers");
  app.add_option("--patience", options.patience_s, "Seconds that an operation may take")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--interval", options.interval_s, "Seconds between lines of progress")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--logs", options.logs, "Folder for the logs of the processes");
  app.add_flag("--json", options.json, "Print JSON, and everything else to standard error");
  app.add_flag("--verbose,-v", options.verbose, "Print how each process behaves");
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

void print_json(const Options& options, const Verdict& verdict) {
  Json json;
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
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

// The folder for the output of the processes. Returns the error, or nothing.
std::string make_logs(Options& options) {
  if (options.logs.empty()) {
    std::string folder = std::filesystem::temp_directory_path() / "uet-stress.XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) return folder + " cannot be made";
    options.logs = folder;
  }
  std::error_code error;
  std::filesystem::create_directories(options.logs, error);
  return error ? options.logs + ": " + error.message() : std::string();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Random operations between processes that are stopped, killed and begun anew; each octet is\n"
      "checked.\n"
      "Exit status: 0 nothing wrong, 1 a defect was found, or the logs cannot be written,\n"
      "2 wrong usage, 130 interrupted.",
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
  if (const std::string problem = make_logs(options); !problem.empty()) {
    std::fprintf(stderr, "uet_stress: %s\n", problem.c_str());
    return 1;
  }
  std::fprintf(options.people(), "seed %llu: %u processes over %s, %u peers each, %u s\n",
               static_cast<unsigned long long>(options.seed), options.processes,
               options.provider.c_str(), options.peers, options.duration_s);
  std::fflush(options.people());
  const Verdict verdict = Director(options).run();
  if (options.json) {
    print_json(options, verdict);
  } else {
    print(verdict);
  }
  if (verdict.outcome == "passed" && own_logs) {
    std::error_code is_left;  // a folder that stays is not a defect
    std::filesystem::remove_all(options.logs, is_left);
  }
  return verdict.outcome == "passed" ? 0 : verdict.outcome == "failed" ? 1 : 130;
}
