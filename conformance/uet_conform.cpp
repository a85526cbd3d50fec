// uet_conform: runs conformance cases. docs/howto/conformance.md is its manual.
#include "conformance/case.h"
#include "conformance/in_process.h"
#include "conformance/runner.h"
#include "tools/common/command_line.h"
#include "tools/common/files.h"
#include "tools/pcap/pcap_file.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace uet::conformance;

// Exit status, besides that of bad usage.
constexpr int kPassed = 0;
constexpr int kFailed = 1;

struct Options {
  std::vector<std::string> cases;
  std::string json;
  std::string record;  // a folder
  bool trace = false;
  bool list = false;
};

std::string read(const std::string& file, Case& out) {
  std::vector<std::byte> octets;
  if (std::string problem = uet::tools::read_octets(file, octets); !problem.empty()) return problem;
  return read_case({reinterpret_cast<const char*>(octets.data()), octets.size()}, file, out);
}

const char* word(Outcome::Kind kind) {
  constexpr const char* kWords[] = {"passed", "failed", "broken", "skipped"};
  return kWords[static_cast<size_t>(kind)];
}

// The case's folder and name, which together are its own: "pds-probe".
std::string name_of(const std::string& file) {
  const auto path = std::filesystem::absolute(file).lexically_normal();
  return path.parent_path().filename().string() + "-" + path.stem().string();
}

Outcome run_case(const std::string& file, const Options& options, Case& c,
                 uet::recording::Writer* writer) {
  Outcome outcome;
  const std::unique_ptr<Host> host = make_in_process(c.host, outcome.text, writer);
  if (host == nullptr) {
    outcome.text = file + ": " + outcome.text;
    outcome.kind = Outcome::Kind::broken;
    return outcome;
  }
  if (options.trace) std::printf("%s: %s\n", file.c_str(), c.title.c_str());
  return run(c, *host, {options.trace});
}

// A case whose recording cannot be written is broken.
Outcome run_file(const std::string& file, const Options& options, Case& c) {
  Outcome outcome;
  outcome.text = read(file, c);
  std::unique_ptr<uet::recording::Writer> writer;
  if (outcome.text.empty() && !options.record.empty()) {
    const std::string name = name_of(file);
    writer = uet::recording::Writer::create(options.record + "/" + name + ".uetrec",
                                            {"uet_conform", name, c.host.seed}, outcome.text);
  }
  if (outcome.text.empty()) outcome = run_case(file, options, c, writer.get());
  const std::string problem = writer == nullptr ? std::string() : writer->finish();
  if (outcome.text.empty()) outcome.text = problem;
  if (outcome.kind == Outcome::Kind::passed && !outcome.text.empty()) {
    outcome.kind = Outcome::Kind::broken;
  }
  return outcome;
}

int run_all(const Options& options, const std::vector<std::string>& files) {
  nlohmann::json report = {{"cases", nlohmann::json::array()}};
  size_t counts[4] = {};
  for (const std::string& file : files) {
    Case c;
    const Outcome outcome = run_file(file, options, c);
    ++counts[static_cast<size_t>(outcome.kind)];
    std::printf("%-7s %s\n", word(outcome.kind), file.c_str());
    if (!outcome.text.empty()) std::printf("%s\n", outcome.text.c_str());
    report["cases"].push_back({{"file", file},
                               {"title", c.title},
                               {"rules", c.rules},
                               {"result", word(outcome.kind)},
                               {"text", outcome.text},
                               {"steps", outcome.steps},
                               {"lines_skipped", outcome.skipped},
                               {"ms", static_cast<double>(outcome.elapsed.ns()) / 1e6}});
  }
  std::printf("%zu passed, %zu failed, %zu broken, %zu skipped\n", counts[0], counts[1], counts[2],
              counts[3]);
  for (size_t i = 0; i < 4; ++i) report[word(static_cast<Outcome::Kind>(i))] = counts[i];
  if (!options.json.empty()) {
    const std::string text =
        report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    const std::string problem = uet::tools::write_octets(options.json, text.data(), text.size());
    if (!problem.empty()) {
      std::fprintf(stderr, "uet_conform: %s\n", problem.c_str());
      return kFailed;
    }
  }
  return counts[1] + counts[2] == 0 ? kPassed : kFailed;
}

int list_all(const std::vector<std::string>& files) {
  int status = kPassed;
  for (const std::string& file : files) {
    Case c;
    if (const std::string problem = read(file, c); !problem.empty()) {
      std::printf("%s\n", problem.c_str());
      status = kFailed;
      continue;
    }
    std::string rules;
    for (const std::string& rule : c.rules) rules += " " + rule;
    std::printf("%s: %s [%s]\n", file.c_str(), c.title.c_str(),
                rules.empty() ? "" : rules.c_str() + 1);
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Runs conformance cases: packets that a peer sends, and packets that must come back.\n"
      "Exit status: 0 all passed or were skipped, 1 one failed or is broken, 2 wrong usage.",
      "uet_conform"};
  Options options;
  CLI::App* runner = app.add_subcommand("run", "Run cases against the stack in this process");
  runner->add_option("CASE", options.cases, "Files, or folders: every *.txt below them")
      ->required()
      ->check(CLI::ExistingPath);
  runner->add_flag("--trace", options.trace, "Print packets, calls and completions as they pass");
  runner->add_flag("--list", options.list, "Print titles and rules, and run nothing");
  runner->add_option("--json", options.json, "Also write the results to this file");
  runner
      ->add_option("--record", options.record,
                   "Write each case to a file in this folder, for uet_replay")
      ->check(CLI::ExistingDirectory);
  if (const auto status = uet::tools::parse(app, argc, argv, uet::tools::Commands::required)) {
    return *status;
  }
  const std::vector<std::string> files =
      uet::tools::files_of(options.cases, ".txt", uet::tools::Folders::with_nested);
  if (files.empty()) return uet::tools::misuse(app, "no case in " + options.cases.front());
  return uet::tools::ended(app, options.list ? list_all(files) : run_all(options, files));
}
