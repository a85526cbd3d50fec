// Command line of uet_sim compare, its table and its JSON.
#include "tools/sim/compare.h"

#include "tools/common/command_line.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace uet::tools {
namespace {

struct CompareOptions {
  std::string before, after;
  double limit_percent = 5;
  bool is_json = false;
};

// Quantities for which more is worse.
struct Measure {
  const char* name;
  bool is_time;                       // in us; otherwise a count
  std::array<const char*, 3> totals;  // added up; the first is in every result
};

constexpr std::array kMeasures{
    Measure{"FCT mean, us", true, {"fct_mean_us"}},
    Measure{"FCT p50, us", true, {"fct_p50_us"}},
    Measure{"FCT p99, us", true, {"fct_p99_us"}},
    Measure{"FCT max, us", true, {"fct_max_us"}},
    Measure{"trimmed", false, {"trimmed"}},
    Measure{"dropped", false, {"dropped_no_room", "dropped_link_down", "dropped_no_way"}},
    Measure{"resent", false, {"resent"}},
    Measure{"failed flows", false, {"flows_failed"}},
};

struct Row {
  const Measure* measure;
  double before, after;
  bool is_known = true;  // no flow has ended in one of the runs: then times say nothing
  double percent() const {
    if (!is_known || before == after) return 0;
    return before == 0 ? std::numeric_limits<double>::infinity() : (after / before - 1) * 100;
  }
};

nlohmann::json read_result(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  file.peek();  // a folder can be opened, but not read
  if (file.bad()) throw std::runtime_error(path + ": cannot be read; it must be a file");
  auto result = nlohmann::json::parse(file, nullptr, false);
  if (result.is_object() && result.contains("totals") && result["totals"].contains("fct_max_us")) {
    return result;
  }
  throw std::runtime_error(path + ": not a result of uet_sim run --json");
}

bool has_ended_flows(const nlohmann::json& result) {
  return result["totals"].value("flows_done", 1.0) > 0;
}

double sum_of(const nlohmann::json& result, const Measure& measure) {
  double sum = 0;
  for (const char* name : measure.totals) {
    if (name == nullptr) continue;
    const nlohmann::json& value = result["totals"].at(name);
    if (!value.is_number()) throw std::runtime_error(std::string(name) + " is not a number");
    sum += value.get<double>();
  }
  return sum;
}

// The options of a run, in one line.
std::string words_of(const nlohmann::json& result) {
  std::string out;
  for (const char* key : {"topology", "matrix", "workload", "plan", "congestion", "balancing"}) {
    const std::string value = result.value(key, "");
    if (!value.empty()) out += (out.empty() ? "" : ", ") + value;
  }
  return out + ", seed " + std::to_string(result.value("seed", uint64_t{0}));
}

// From, to, octets and start of the flows, in their order.
nlohmann::json pairs_of(const nlohmann::json& result) {
  auto out = nlohmann::json::array();
  const auto flows = result.find("flows");
  if (flows == result.end() || !flows->is_array()) return out;
  for (const nlohmann::json& flow : *flows) {
    out.push_back({flow.value("from", 0), flow.value("to", 0), flow.value("bytes", uint64_t{0}),
                   flow.value("start_us", 0.0)});
  }
  return out;
}

// In what runs the two are not alike, and both sides in words.
struct Difference {
  std::string what, before, after;
};

// Other algorithms and seeds are what one compares.
std::vector<Difference> differences_of(const nlohmann::json& before, const nlohmann::json& after) {
  std::vector<Difference> out;
  for (const char* key : {"topology", "matrix", "workload", "plan"}) {
    const std::string a = before.value(key, ""), b = after.value(key, "");
    if (a != b) out.push_back({key, a.empty() ? "none" : a, b.empty() ? "none" : b});
  }
  const nlohmann::json a = pairs_of(before), b = pairs_of(after);
  if (a == b) return out;
  const bool is_count = a.size() != b.size();
  out.push_back(
      {"flows", std::to_string(a.size()),
       std::to_string(b.size()) + (is_count ? "" : " with other hosts, octets or starts")});
  return out;
}

std::string change_of(const Row& row) {
  if (!row.is_known) return "-";
  if (std::isinf(row.percent())) return "from 0";
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%+.1f %%", row.percent());
  return out.data();
}

// The numbers can be compared for other topologies, for flows that another seed has drawn, and for
// one traffic with two names.
bool is_other_traffic(const nlohmann::json& before, const nlohmann::json& after,
                      const std::vector<Difference>& differences) {
  const auto differs = [&](std::string_view what) {
    return std::ranges::find(differences, what, &Difference::what) != differences.end();
  };
  const bool is_named_otherwise = differs("matrix") || differs("workload") || differs("plan");
  if (pairs_of(before).empty() || pairs_of(after).empty()) return is_named_otherwise;
  const bool is_other_seed = before.value("seed", uint64_t{0}) != after.value("seed", uint64_t{0});
  return differs("flows") && (is_named_otherwise || !is_other_seed);
}

void print_differences(const nlohmann::json& before, const nlohmann::json& after) {
  const std::vector<Difference> differences = differences_of(before, after);
  for (const Difference& d : differences) {
    std::printf("%s differ%s: A %s, B %s\n", d.what.c_str(), d.what == "flows" ? "" : "s",
                d.before.c_str(), d.after.c_str());
  }
  if (is_other_traffic(before, after, differences)) {
    std::printf("A and B have other traffic: the numbers say little about each other\n");
  }
  if (!differences.empty()) std::printf("\n");
}

void print_comparison(const std::vector<Row>& rows, const CompareOptions& o,
                      const nlohmann::json& before, const nlohmann::json& after) {
  std::printf("A  %s: %s\nB  %s: %s\n\n", o.before.c_str(), words_of(before).c_str(),
              o.after.c_str(), words_of(after).c_str());
  print_differences(before, after);
  std::printf("%-14s %12s %12s %10s\n", "", "A", "B", "B to A");
  for (const Row& row : rows) {
    const int digits = row.measure->is_time ? 1 : 0;
    std::printf("%-14s %12.*f %12.*f %10s%s\n", row.measure->name, digits, row.before, digits,
                row.after, change_of(row).c_str(),
                row.percent() > o.limit_percent ? "  worse" : "");
  }
  if (!before.value("finished", true)) std::printf("A has not finished\n");
  if (!after.value("finished", true)) std::printf("B has not finished\n");
}

void print_comparison_json(const std::vector<Row>& rows, const CompareOptions& o,
                           const std::vector<Difference>& differences, bool is_worse) {
  auto list = nlohmann::json::array(), differing = nlohmann::json::array();
  for (const Difference& d : differences) {
    differing.push_back({{"name", d.what}, {"a", d.before}, {"b", d.after}});
  }
  for (const Row& row : rows) {
    const bool is_finite = row.is_known && std::isfinite(row.percent());
    list.push_back({{"name", row.measure->name},
                    {"a", row.before},
                    {"b", row.after},
                    {"percent", is_finite ? nlohmann::json(row.percent()) : nlohmann::json()},
                    {"worse", row.percent() > o.limit_percent}});
  }
  const nlohmann::json out{{"a", o.before},
                           {"b", o.after},
                           {"limit_percent", o.limit_percent},
                           {"differences", differing},
                           {"rows", list},
                           {"worse", is_worse}};
  std::printf("%s\n", out.dump(1).c_str());
}

int compare(const CompareOptions& o) {
  try {
    const nlohmann::json before = read_result(o.before), after = read_result(o.after);
    std::vector<Row> rows;
    bool is_worse = before.value("finished", true) && !after.value("finished", true);
    const bool has_times = has_ended_flows(before) && has_ended_flows(after);
    for (const Measure& measure : kMeasures) {
      rows.push_back({&measure, sum_of(before, measure), sum_of(after, measure),
                      !measure.is_time || has_times});
      is_worse |= rows.back().percent() > o.limit_percent;
    }
    if (o.is_json) {
      print_comparison_json(rows, o, differences_of(before, after), is_worse);
    } else {
      print_comparison(rows, o, before, after);
    }
    return is_worse ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "uet_sim compare: %s\n", error.what());
    return 2;
  }
}

}  // namespace

std::function<int()> add_compare(CLI::App& app) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App& command = *app.add_subcommand("compare", "Print how two results of uet_sim run differ");
  command.add_option("A", options->before, "Result A: a file of uet_sim run --json")->required();
  command.add_option("B", options->after, "Result B")->required();
  command.add_option("--limit", options->limit_percent, "Percent by which B may be worse than A")
      ->check(number_between(0, 1e9))
      ->capture_default_str();
  command.add_flag("--json", options->is_json, "Print JSON");
  command.footer(
      "Exit status: 0 B is not worse than the limit, 1 it is, 2 wrong usage or not a result.");
  return [options] { return compare(*options); };
}

}  // namespace uet::tools
