// uet_ctl: what the open uet domains of this host count, read from outside their processes, and
// whether the host is fit for uet at all.
// docs/howto/uet_ctl.md is its manual.
#include "tools/common/command_line.h"
#include "tools/ctl/control_client.h"
#include "tools/ctl/doctor/command.h"
#include "tools/ctl/dump_text.h"

#include "prov/uet/observe/control_socket.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using json = nlohmann::ordered_json;
using uet::tools::Found;
using uet::tools::Reply;

// Exit status.
constexpr int kGood = 0;
constexpr int kNothing = 1;     // no domain to ask
constexpr int kIncomplete = 3;  // some domain did not answer

struct Options {
  std::vector<pid_t> pids;  // empty: all
  bool json = false;
  bool all = false;
  double watch_s = 0;
  uint64_t count = 0;  // of rounds with --watch; 0: until interrupted
};

// What one look at the host gives.
struct Look {
  std::vector<json> domains;
  bool complete = true;
};

// The counters that were seen last, by domain.
using Seen = std::map<std::string, std::map<std::string, uint64_t>>;

bool is_wanted(const Options& options, pid_t pid) {
  return options.pids.empty() ||
         std::find(options.pids.begin(), options.pids.end(), pid) != options.pids.end();
}

Look look(const Options& options, std::string_view request) {
  Look out;
  size_t foreign = 0;
  for (const Found& domain : uet::tools::find_domains()) {
    if (!is_wanted(options, domain.pid)) continue;
    Reply reply = uet::tools::ask(domain, request);
    if (reply.foreign && options.pids.empty()) {
      ++foreign;
      continue;
    }
    if (!reply.problem.empty()) {
      std::fprintf(stderr, "uet_ctl: process %d %s\n", domain.pid, reply.problem.c_str());
      out.complete = false;
    }
    // A name can be made up by anybody of the same user; the process behind it cannot.
    if (!reply.status.is_object() || !is_wanted(options, reply.pid)) continue;
    reply.status["pid"] = static_cast<uint32_t>(reply.pid);
    reply.status["program"] = uet::tools::program_of(reply.pid);
    out.domains.push_back(std::move(reply.status));
  }
  if (foreign > 0) {
    std::fprintf(stderr, "uet_ctl: %zu domains of other users are left out; root sees them\n",
                 foreign);
  }
  return out;
}

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

// The name of a program may be no UTF-8.
std::string json_of(const std::vector<json>& domains, int indent) {
  return json(domains).dump(indent, ' ', false, json::error_handler_t::replace);
}

void print(const Look& seen_now, const Options& options, Seen& seen) {
  if (options.json) {
    std::printf("%s\n", json_of(seen_now.domains, options.watch_s > 0 ? -1 : 2).c_str());
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

void explain_nothing(const Options& options) {
  if (options.pids.empty()) {
    std::fprintf(stderr, "uet_ctl: no process has an open uet domain here\n");
  }
  for (const pid_t pid : options.pids) {
    std::fprintf(stderr, "uet_ctl: process %d has no open uet domain here\n", pid);
  }
  std::fprintf(stderr,
               "uet_ctl: a process is found in its own network namespace only, and not with "
               "FI_UET_STATS=0 or FI_UET_HELPER=0\n");
}

int stats(const Options& options) {
  Seen seen;
  int status = kGood;
  for (uint64_t round = 1;; ++round) {
    const Look now = look(options, uet::prov::kStatsRequest);
    if (!now.complete) status = kIncomplete;
    if (now.domains.empty() && now.complete) {
      if (options.json) std::printf("[]\n");
      explain_nothing(options);
      return kNothing;
    }
    print(now, options, seen);
    std::fflush(stdout);
    if (options.watch_s <= 0 || round == options.count) return status;
    std::this_thread::sleep_for(std::chrono::duration<double>(options.watch_s));
  }
}

int dump(const Options& options) {
  const Look now = look(options, uet::prov::kDumpRequest);
  if (options.json) {
    std::printf("%s\n", json_of(now.domains, 2).c_str());
  } else {
    for (const json& domain : now.domains) {
      std::fputs(uet::tools::dump_for_people(domain).c_str(), stdout);
    }
  }
  if (!now.complete) return kIncomplete;
  if (!now.domains.empty()) return kGood;
  explain_nothing(options);
  return kNothing;
}

struct Commands {
  CLI::App* dump;
  CLI::App* doctor;
};

Commands add_commands(CLI::App& app, Options& options) {
  CLI::App* const stats =
      app.add_subcommand("stats", "Print the counters of all open domains (docs/counters.md)");
  stats->add_option("PID", options.pids, "Only of these processes")->check(CLI::Range(1, 1 << 30));
  stats->add_flag("--json", options.json, "Print an array of objects, one for each domain");
  stats->add_flag("--all", options.all, "Print counters that are zero, too");
  CLI::Option* const watch =
      stats
          ->add_option("--watch", options.watch_s,
                       "Again every so many seconds, with what was added since")
          ->check(CLI::Range(0.01, 86400.0));
  stats->add_option("--count", options.count, "Stop after so many times")
      ->needs(watch)
      ->check(CLI::Range(1, 1'000'000'000));

  CLI::App* const dump =
      app.add_subcommand("dump", "Print what all open domains wait for, down to each PDC");
  dump->add_option("PID", options.pids, "Only of these processes")->check(CLI::Range(1, 1 << 30));
  dump->add_flag("--json", options.json, "Print an array of objects, one for each domain");

  CLI::App* const doctor =
      app.add_subcommand("doctor", "Say whether uet can work here, and how to mend what is wrong");
  doctor->footer("Exit status: 0 all is well, 1 warnings, 2 on bad usage, 3 faults.");
  doctor->add_flag("--json", options.json, "Print one object with all checks");
  return {dump, doctor};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Looks into the processes of this host that use the libfabric provider uet.\n"
      "Exit status: 0 all answered, 1 there is none, 2 on bad usage, 3 some did not answer.",
      "uet_ctl"};
  const Commands commands = add_commands(app, options);
  if (const auto status = uet::tools::parse(app, argc, argv, uet::tools::Commands::required)) {
    return *status;
  }
  if (commands.doctor->parsed()) return uet::tools::doctor("/", options.json);
  try {
    return commands.dump->parsed() ? dump(options) : stats(options);
  } catch (const json::exception&) {
    std::fprintf(stderr, "uet_ctl: a process gave an answer with members of the wrong kind\n");
    return kIncomplete;
  }
}
