// uet_replay: gives the stack what recordings say it was given, and shows where it answers
// otherwise. docs/howto/replay.md is its manual.
#include "tools/common/command_line.h"
#include "tools/common/files.h"
#include "tools/replay/record_text.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace uet::recording;
using Json = nlohmann::ordered_json;

constexpr int kIdentical = 0;
constexpr int kDifferent = 1;
constexpr int kBroken = 3;

struct Options {
  std::vector<std::string> files;
  bool json = false;
  bool quiet = false;
};

struct Totals {
  uint64_t recordings = 0;
  uint64_t identical = 0;
  uint64_t different = 0;
  uint64_t deadlines = 0;  // only these differ
  uint64_t broken = 0;
  uint64_t endpoints = 0;
  uint64_t calls = 0;
  uint64_t packets = 0;
  uint64_t completions = 0;
};

std::string call_text(const Recording& recording, const Difference& d) {
  return name(recording.records[d.call - 1].kind);
}

void print(const Recording& recording, const Difference& d) {
  std::printf("  seed %llu, endpoint %u, %.6f ms by its clock, record %zu, in %s (record %zu)\n",
              static_cast<unsigned long long>(recording.about.seed), d.endpoint,
              static_cast<double>(d.at.ns()) / 1e6, d.record, call_text(recording, d).c_str(),
              d.call);
  const uet::tools::SideBySide sides = uet::tools::side_by_side(d);
  for (const std::string& line : sides.recorded) std::printf("  recorded: %s\n", line.c_str());
  for (const std::string& line : sides.now) std::printf("  now:      %s\n", line.c_str());
}

Json json_of(const Recording& recording, const Difference& d) {
  const uet::tools::SideBySide sides = uet::tools::side_by_side(d);
  return {{"record", d.record},    {"endpoint", d.endpoint},
          {"at_ns", d.at.ns()},    {"call", call_text(recording, d)},
          {"call_record", d.call}, {"recorded", sides.recorded},
          {"now", sides.now}};
}

const char* word(const Outcome& outcome) {
  if (!outcome.problem.empty()) return "broken";
  if (outcome.difference.has_value()) return "different";
  return outcome.deadline.has_value() ? "deadlines" : "identical";
}

void count(const Outcome& outcome, Totals& totals) {
  ++totals.recordings;
  totals.broken += !outcome.problem.empty();
  totals.different += outcome.problem.empty() && outcome.difference.has_value();
  totals.identical += outcome.is_identical();
  totals.deadlines +=
      outcome.problem.empty() && !outcome.difference.has_value() && outcome.deadline.has_value();
  totals.endpoints += outcome.endpoints;
  totals.calls += outcome.calls;
  totals.packets += outcome.packets;
  totals.completions += outcome.completions;
}

Json replay_file(const std::string& file, const Options& options, Totals& totals) {
  Recording recording;
  Outcome outcome;
  outcome.problem = read(file, recording);
  if (outcome.problem.empty()) outcome = replay(recording);
  count(outcome, totals);
  if (!outcome.problem.empty()) {
    std::fprintf(stderr, "uet_replay: %s: %s\n", file.c_str(), outcome.problem.c_str());
  } else if (!options.json && !(options.quiet && outcome.is_identical())) {
    std::printf("%-9s %s\n", word(outcome), file.c_str());
    if (outcome.deadline.has_value()) {
      std::printf("  %llu deadlines, the first of them:\n",
                  static_cast<unsigned long long>(outcome.deadlines));
      print(recording, *outcome.deadline);
    }
    if (outcome.difference.has_value()) print(recording, *outcome.difference);
  }
  Json out = {{"file", file},
              {"source", recording.about.source},
              {"name", recording.about.name},
              {"seed", recording.about.seed},
              {"result", word(outcome)},
              {"records", recording.records.size()},
              {"calls", outcome.calls},
              {"packets", outcome.packets},
              {"completions", outcome.completions},
              {"deadlines", outcome.deadlines}};
  if (!outcome.problem.empty()) out["problem"] = outcome.problem;
  if (outcome.deadline.has_value()) out["deadline"] = json_of(recording, *outcome.deadline);
  if (outcome.difference.has_value()) out["difference"] = json_of(recording, *outcome.difference);
  return out;
}

int replay_all(const std::vector<std::string>& files, const Options& options) {
  Totals totals;
  Json report = {{"recordings", Json::array()}};
  for (const std::string& file : files) {
    report["recordings"].push_back(replay_file(file, options, totals));
    std::fflush(stdout);
  }
  if (options.json) {
    report["identical"] = totals.identical;
    report["different"] = totals.different;
    report["deadlines"] = totals.deadlines;
    report["broken"] = totals.broken;
    report["endpoints"] = totals.endpoints;
    report["calls"] = totals.calls;
    report["packets"] = totals.packets;
    report["completions"] = totals.completions;
    std::printf("%s\n", report.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  } else {
    const auto number = [](uint64_t n) { return static_cast<unsigned long long>(n); };
    std::printf(
        "%llu recordings: %llu identical, %llu with other deadlines only, %llu different, "
        "%llu broken; %llu endpoints, "
        "%llu calls, %llu packets and %llu completions were equal\n",
        number(totals.recordings), number(totals.identical), number(totals.deadlines),
        number(totals.different), number(totals.broken), number(totals.endpoints),
        number(totals.calls), number(totals.packets), number(totals.completions));
  }
  if (totals.broken != 0) return kBroken;
  return totals.different + totals.deadlines != 0 ? kDifferent : kIdentical;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Replays recordings of uet_sim and uet_conform, and compares every packet, completion\n"
      "and return value.\n"
      "Exit status: 0 all are identical, 1 one is not, 2 wrong usage, 3 a file is broken.",
      "uet_replay"};
  Options options;
  app.add_option("FILE", options.files, "Recordings, or folders: every *.uetrec in them")
      ->required()
      ->check(CLI::ExistingPath);
  app.add_flag("--json", options.json, "Print JSON");
  app.add_flag("--quiet,-q", options.quiet, "Print only what is not identical, and the sum");
  if (const auto status = uet::tools::parse(app, argc, argv)) return *status;
  const std::vector<std::string> files =
      uet::tools::files_of(options.files, ".uetrec", uet::tools::Folders::themselves);
  if (files.empty()) return uet::tools::misuse(app, "no recording in " + options.files.front());
  return uet::tools::ended(app, replay_all(files, options));
}
