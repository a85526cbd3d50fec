// uet_ctl: counters and state of the open uet domains of this host, read from outside their
// processes, and checks of the host for uet. docs/howto/uet_ctl.md is its manual.
#include "tools/common/command_line.h"
#include "tools/ctl/command.h"
#include "tools/ctl/doctor/command.h"
#include "tools/ctl/dump_text.h"
#include "tools/ctl/look.h"

#include "prov/uet/observe/control_socket.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using json = nlohmann::ordered_json;
using namespace uet::tools;

struct Options {
  std::vector<pid_t> pids;  // empty: all
  bool json = false;
  bool all = false;
  Rounds rounds;
};

// The counters that were seen last, by domain.
using Seen = std::map<std::string, std::map<std::string, uint64_t>>;

std::string text(const json& object, const char* member) {
  const auto at = object.find(member);
  if (at == object.end()) return "?";
  return at->is_string() ? at->get<std::string>() : at->dump();
}

void print_head(const json& domain) {
  const auto open = domain.value("open_ms", uint64_t{0});
  std::printf("%s %s: %s, %s port %s, fabric %s, JobID %s, payload %s, open %llu.%llu s\n",
              text(domain, "pid").c_str(), text(domain, "program").c_str(),
              text(domain, "domain").c_str(), text(domain, "address").c_str(),
              text(domain, "port").c_str(), text(domain, "fabric").c_str(),
              text(domain, "job_id").c_str(), text(domain, "payload_mtu").c_str(),
              static_cast<unsigned long long>(open / 1000),
              static_cast<unsigned long long>(open % 1000 / 100));
  const std::string failure = text(domain, "failure");
  if (!failure.empty()) std::printf("  FAILED: %s\n", failure.c_str());
  for (const json& endpoint : domain.value("endpoints", json::array())) {
    std::printf("  endpoint: PIDonFEP %s, resource index %s\n",
                text(endpoint, "pid_on_fep").c_str(), text(endpoint, "resource_index").c_str());
  }
}

// All counters, or the ones that changed since `before`.
void print_counters(const json& domain, const Options& options,
                    const std::map<std::string, uint64_t>* before) {
  for (const auto& [name, value] : domain["counters"].items()) {
    if (!value.is_number_unsigned()) continue;
    const auto now = value.get<uint64_t>();
    uint64_t shown = now;
    if (before != nullptr) {
      const auto at = before->find(name);
      shown = now - (at != before->end() ? at->second : 0);
    }
    if (shown == 0 && !options.all) continue;
    std::printf("  %-28s %s%llu\n", name.c_str(), before != nullptr ? "+" : "",
                static_cast<unsigned long long>(shown));
  }
}

std::string key_of(const json& domain) {
  return text(domain, "pid") + ' ' + text(domain, "address") + ' ' + text(domain, "port");
}

void print(const Look& seen_now, const Options& options, Seen& seen) {
  if (options.json) {
    std::printf("%s\n", json_of(seen_now.domains, options.rounds.is_watch() ? -1 : 2).c_str());
    return;
  }
  Seen next;
  for (const json& domain : seen_now.domains) {
    const auto before = seen.find(key_of(domain));
    print_head(domain);
    print_counters(domain, options, before != seen.end() ? &before->second : nullptr);
    for (const auto& [name, value] : domain["counters"].items()) {
      if (value.is_number_unsigned()) next[key_of(domain)][name] = value.get<uint64_t>();
    }
  }
  seen = std::move(next);
}

Look ask_all(const Options& options, std::string_view request) {
  Look now = look(options.pids, [&](const Found& domain) { return ask(domain, request); });
  tell_problems(now);
  return now;
}

int stats_of(const Options& options) {
  Seen seen;
  return options.rounds.run([&] {
    const Look now = ask_all(options, uet::prov::kStatsRequest);
    if (now.domains.empty() && now.problems.empty()) {
      if (options.json) std::printf("[]\n");
      return explain_nothing(options.pids);
    }
    print(now, options, seen);
    return now.problems.empty() ? kGood : kIncomplete;
  });
}

int dump_of(const Options& options) {
  const Look now = ask_all(options, uet::prov::kDumpRequest);
  if (options.json) {
    std::printf("%s\n", json_of(now.domains, 2).c_str());
  } else {
    for (const json& domain : now.domains) {
      std::fputs(uet::tools::dump_for_people(domain).c_str(), stdout);
    }
  }
  if (!now.problems.empty()) return kIncomplete;
  return now.domains.empty() ? explain_nothing(options.pids) : kGood;
}

Command add_stats(CLI::App& app) {
  CLI::App* const stats =
      app.add_subcommand("stats", "Print the counters of all open domains (docs/counters.md)");
  const auto options = std::make_shared<Options>();
  add_pids(*stats, options->pids);
  stats->add_flag("--json", options->json, "Print an array of objects, one for each domain");
  stats->add_flag("--all", options->all, "Print counters that are zero, too");
  options->rounds.add_to(*stats, "Repeat every N seconds, with the increase since the last time");
  return {stats, [options] { return stats_of(*options); }};
}

Command add_dump(CLI::App& app) {
  CLI::App* const dump =
      app.add_subcommand("dump", "Print what all open domains wait for, down to each PDC");
  const auto options = std::make_shared<Options>();
  add_pids(*dump, options->pids);
  dump->add_flag("--json", options->json, "Print an array of objects, one for each domain");
  return {dump, [options] { return dump_of(*options); }};
}

Command add_doctor(CLI::App& app) {
  CLI::App* const doctor =
      app.add_subcommand("doctor", "Check this host, and print a fix for each problem");
  doctor->footer("Exit status: 0 all is well, 1 warnings, 2 wrong usage, 3 faults.");
  const auto is_json = std::make_shared<bool>(false);
  doctor->add_flag("--json", *is_json, "Print one object with all checks");
  return {doctor, [is_json] { return uet::tools::doctor("/", *is_json); }};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Checks this host and inspects its processes that use the libfabric provider uet.\n"
      "Exit status: 0 all answered, 1 no process found, 2 wrong usage, 3 some did not answer.",
      "uet_ctl"};
  const Command commands[] = {add_stats(app),  add_dump(app), add_contexts(app),
                              add_record(app), add_plot(app), add_doctor(app)};
  if (const auto status = uet::tools::parse(app, argc, argv, uet::tools::Commands::required)) {
    return *status;
  }
  try {
    for (const Command& command : commands) {
      if (command.app->parsed()) return uet::tools::ended(app, command.run());
    }
  } catch (const json::exception&) {
    std::fprintf(stderr, "uet_ctl: a process gave an answer with members of the wrong kind\n");
  }
  return kIncomplete;
}
