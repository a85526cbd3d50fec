// Command line of uet_sim traffic: options are the keys of sim/traffic/request.h.
#include "tools/sim/traffic.h"

#include "sim/traffic/matrix.h"
#include "sim/traffic/request.h"
#include "tools/common/command_line.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

namespace uet::tools {
namespace {

struct TrafficOptions {
  std::string pattern;
  sim::Request request;
  std::string output = "-";
};

int write(const CLI::App& app, const TrafficOptions& options) {
  if (options.pattern.empty()) {
    return misuse(app, "which workload? incast, permutation, all-to-all, ...");
  }
  std::string text;
  try {
    text = sim::matrix_text(sim::traffic_of(options.pattern, options.request));
  } catch (const sim::TrafficError& e) {
    return misuse(app, e.what());
  }
  if (options.output == "-") {
    std::cout << text << std::flush;
    return std::cout ? 0 : 1;
  }
  std::ofstream file(options.output, std::ios::binary);
  file << text;
  if (file.flush()) return 0;
  std::fprintf(stderr, "uet_sim traffic: %s: cannot be written\n", options.output.c_str());
  return 1;
}

void add_pattern(CLI::App& app, const sim::PatternName& pattern,
                 const std::shared_ptr<TrafficOptions>& options) {
  CLI::App& command = *app.add_subcommand(pattern.name, pattern.meaning);
  command.callback([options, pattern] { options->pattern = pattern.name; });
  for (const sim::RequestKey& key : sim::request_keys()) {
    const std::string patterns = key.patterns;
    const bool is_for =
        patterns.empty() || patterns.find(" " + std::string(pattern.name) + " ") != patterns.npos;
    if (!is_for) continue;
    const std::string name = "--" + std::string(key.name);
    const auto set = [options, &key, name](const std::string& value) {
      try {
        key.set(options->request, value);
      } catch (const sim::TrafficError& e) {
        throw CLI::ValidationError(name, e.what());
      }
    };
    command.add_option_function<std::string>(name, set, key.meaning);
  }
  command.add_option("-o,--output", options->output, "File to write; -: standard output");
}

}  // namespace

std::function<int()> add_traffic(CLI::App& app) {
  const auto options = std::make_shared<TrafficOptions>();
  CLI::App& command = *app.add_subcommand(
      "traffic", "Write a workload as a connection matrix, for uet_sim run or htsim");
  command.footer(
      "Defaults: 16 hosts, 2 MB, seed 1; uet_sim(1) has the others.\n"
      "Example: uet_sim traffic incast --hosts 128 --senders 8 --bytes 2MB --seed 5 -o F.cm\n"
      "Exit status: 0 written, 1 the file cannot be written, 2 wrong usage.");
  for (const sim::PatternName& pattern : sim::pattern_names()) {
    add_pattern(command, pattern, options);
  }
  return [options, &app] { return write(app, *options); };
}

}  // namespace uet::tools
