// `uet_ctl paths`: the congestion contexts of running processes, as a table.
#include "tools/ctl/command.h"
#include "tools/ctl/look.h"
#include "tools/ctl/members.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace uet::tools {
namespace {

struct TableOptions {
  std::vector<pid_t> pids;
  bool json = false;
  uint32_t most = 1000;
  Rounds rounds;
};

using TableRow = std::vector<std::string>;

std::string us_text(const json& path, const char* name) {
  const int64_t ns = signed_number(path, name);
  if (ns <= 0) return "-";
  char text[40];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(ns) * 1e-3);
  return text;
}

std::string percent(const json& path, const char* name) {
  if (number(path, "acks") == 0) return "-";
  char text[40];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(number(path, name)) * 0.1);
  return text;
}

const TableRow kHeads = {"peer",      "tc",      "kind",     "cc",      "window",
                         "in flight", "waiting", "RTT us",   "base us", "ECN %",
                         "EVs",       "resting", "excluded", "credit",  "held back"};

TableRow row_of(const json& path) {
  const bool is_single = word(path, "kind") == "single";
  const bool has_window = number(path, "window_bytes") != 0;
  return {word(path, "peer"),
          count(path, "tc"),
          is_single ? "lane " + count(path, "lane") : word(path, "kind"),
          word(path, "algorithm"),
          has_window ? count(path, "window_bytes") : "-",
          count(path, "inflight_bytes"),
          std::to_string(number(path, "backlog_bytes") + number(path, "resend_bytes")),
          us_text(path, "rtt_ns"),
          us_text(path, "base_rtt_ns"),
          percent(path, "ecn_permille"),
          count(path, "evs"),
          count(path, "evs_resting"),
          count(path, "evs_excluded"),
          path.contains("credit_bytes") ? std::to_string(signed_number(path, "credit_bytes")) : "-",
          flag(path, "held_back") ? "yes" : "no"};
}

// The first four columns are words, the others numbers.
void print_table(const std::vector<TableRow>& rows) {
  constexpr size_t kWords = 4;
  std::vector<size_t> width(kHeads.size());
  for (const TableRow& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  for (const TableRow& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(width[i] - row[i].size(), ' ');
      line += "  " + (i < kWords ? row[i] + blanks : blanks + row[i]);
    }
    std::printf("%s\n", line.c_str());
  }
}

void print(const json& domain) {
  std::printf("%s %s: %s, %s port %s", count(domain, "pid").c_str(),
              word(domain, "program").c_str(), word(domain, "domain").c_str(),
              word(domain, "address").c_str(), count(domain, "port").c_str());
  if (flag(domain, "held")) {
    std::printf("\n  a thread is inside the provider and does not come out\n");
    return;
  }
  const json contexts = domain.value("paths", json::object());
  const json listed = objects(contexts, "listed");
  std::printf(": %s congestion contexts\n", count(contexts, "count").c_str());
  std::vector<TableRow> rows = {kHeads};
  for (const json& path : listed) rows.push_back(row_of(path));
  if (rows.size() > 1) print_table(rows);
  if (const uint64_t all = number(contexts, "count"); all > listed.size()) {
    std::printf("  and %llu more\n", static_cast<unsigned long long>(all - listed.size()));
  }
}

int print_contexts(const TableOptions& options) {
  return options.rounds.run([&] {
    const Look now =
        look(options.pids, [&](const Found& domain) { return ask_contexts(domain, options.most); });
    const bool is_complete = tell_problems(now);
    if (options.json) {
      std::printf("%s\n", json_of(now.domains, options.rounds.is_watch() ? -1 : 2).c_str());
    } else {
      for (const json& domain : now.domains) print(domain);
    }
    if (now.domains.empty() && is_complete) return explain_nothing(options.pids);
    return is_complete ? kGood : kIncomplete;
  });
}

}  // namespace

Command add_contexts(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("paths", "Print the congestion contexts of all open domains");
  const auto options = std::make_shared<TableOptions>();
  add_pids(*command, options->pids);
  command->add_flag("--json", options->json, "Print an array of objects, one for each domain");
  command
      ->add_option("--most", options->most,
                   "Number of contexts listed for each domain, busy ones first")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  options->rounds.add_to(*command, "Repeat every N seconds");
  return {command, [options] { return print_contexts(*options); }};
}

}  // namespace uet::tools
