// Command line of uet_sim run, and its progress.
#include "tools/sim/run.h"

#include "sim/fabric/generate.h"
#include "sim/fabric/run.h"
#include "sim/fabric/units.h"
#include "sim/traffic/matrix.h"
#include "sim/traffic/quantity.h"
#include "sim/traffic/request.h"
#include "sim/training/step_traffic.h"
#include "sim/training/training_file.h"
#include "sim/transports/catalogue.h"
#include "tools/common/command_line.h"
#include "tools/sim/output_file.h"
#include "tools/sim/report/report.h"
#include "tools/sim/run_result.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace uet::tools {
namespace {

using namespace sim::fabric;
using sim::Traffic;

struct Options {
  AskedFor asked;
  StackChoice stack;
  double link_gbps = 100;
  bool is_trimming_off = false;
  bool is_adaptive = false;
  bool is_pfc = false;
  std::string pfc_thresholds;  // octets, off:on
  std::string ecn;             // low:high
  bool is_evs_given = false;
  double queue_bdp = 0;  // 0: as the specification says
  double buffer_mb = 0;
  uint64_t seed = 1;
  std::string until, reroute_after = "0us";
  std::vector<std::string> changes;
  std::string json, report, sample_every;
  bool is_quiet = false;
};

// The flows are those of the plan; how fast they go is a matter of the topology.
void warn_of_rate(const sim::Training& training, double gbps) {
  const double planned = training.cluster.link_gbps;
  if (std::abs(planned - gbps) <= gbps * 1e-6) return;
  std::fprintf(
      stderr,
      "uet_sim: the plan has links of %g Gbit/s, the topology of %g; those of the topology "
      "count (for others: --link-gbps %g)\n",
      planned, gbps, planned);
}

Traffic make_traffic(const Options& o, uint32_t hosts, double gbps) {
  const AskedFor& a = o.asked;
  const int asked = int{!a.matrix.empty()} + int{!a.workload.empty()} + int{!a.plan.empty()};
  if (asked != 1) throw TopologyError("give one of --matrix, --workload and --plan");
  if (!a.matrix.empty()) return sim::read_matrix_file(a.matrix);
  if (!a.plan.empty()) {
    sim::Training training;
    sim::read_training_file(training, a.plan);
    if (const std::string what = training.problem(); !what.empty()) throw TopologyError(what);
    warn_of_rate(training, gbps);
    return sim::traffic_of_step(training);
  }
  sim::Request request;
  request.hosts = hosts;
  request.seed = o.seed;
  request.link_gbps = gbps;
  return sim::traffic_of_text(a.workload, request);
}

constexpr uint32_t kManyHosts = 8192;  // whose fabric takes seconds to build

// A line a second on standard error.
class Progress {
 public:
  explicit Progress(const RunPlan& plan) : bytes_(plan.traffic.bytes()), until_(plan.until) {}
  void tell(const RunState& state) {
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < std::chrono::seconds(1)) return;
    told_ = now;
    const double seconds = std::chrono::duration<double>(now - begun_).count();
    const double done = share_of(state);
    std::fprintf(stderr, "%.1f us simulated, %.2f M events/s, %llu of %llu flows done",
                 us(state.now), static_cast<double>(state.events) / seconds * 1e-6,
                 static_cast<unsigned long long>(state.flows_done),
                 static_cast<unsigned long long>(state.flows));
    if (done > 0) std::fprintf(stderr, ", about %.0f s left", seconds * (1 - done) / done);
    std::fprintf(stderr, "\n");
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }

 private:
  // By octets, because long flows all end late; or by time, where the run is cut off before.
  double share_of(const RunState& state) const {
    const auto share = [](auto part, auto whole) {
      return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
    };
    const double by_time = until_ == kNever ? 0 : share(state.now, until_);
    return std::min(std::max(share(state.bytes_begun, bytes_), by_time), 1.0);
  }

  const uint64_t bytes_;
  const Picoseconds until_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point told_ = begun_;
};

// "61440:49152": a port waits above the first, and until the second.
void set_thresholds(SwitchConfig& switches, const std::string& text) {
  const size_t colon = text.find(':');
  const auto number = [&](const std::string& part) {
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size()) {
      throw TopologyError("--pfc-thresholds '" + text + "'; write two sizes such as 120000:80000");
    }
    return value;
  };
  switches.pfc_off = number(text.substr(0, colon));
  switches.pfc_on = number(colon == std::string::npos ? "" : text.substr(colon + 1));
  if (switches.pfc_on > switches.pfc_off) {
    throw TopologyError("--pfc-thresholds '" + text + "': the second is above the first");
  }
  switches.pfc = true;
}

// "0.2" is a share of the BDP, "40kB" are octets.
uint32_t threshold_of(const std::string& text, const NetworkFacts& facts) {
  double value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_plain = error == std::errc() && end == text.data() + text.size();
  const double bytes =
      is_plain ? value * facts.bdp_bytes : sim::parse_quantity(text, sim::Unit::bytes);
  if (!(bytes >= 0)) throw TopologyError("'" + text + "' is no threshold");
  return static_cast<uint32_t>(std::min<double>(bytes, UINT32_MAX));
}

void check_marks(const RunPlan& plan, const NetworkFacts& facts) {
  const std::string& name = plan.stack.congestion;
  const auto* const model = sim::transports::transport_named(name);
  if (model == nullptr) return;
  const std::string start = "--ecn: --cc " + std::string(model->name);
  if (!model->uses_marks) throw TopologyError(start + " does not use marks");
  sim::transports::Marking own;
  if (!sim::transports::make_transport(name)->marking(network_of(facts, {}, 0), own)) return;
  throw TopologyError(start + " has thresholds of its own; give mark-low-us= and mark-high-us= " +
                      "behind the name");
}

// "0.2:0.8" or "40kB:150kB"; equal ones: all above is marked.
void set_marks(RunPlan& plan, const std::string& text, const NetworkFacts& facts) {
  check_marks(plan, facts);
  const size_t colon = text.find(':');
  try {
    plan.switches.ecn_low = threshold_of(text.substr(0, colon), facts);
    plan.switches.ecn_high =
        threshold_of(colon == std::string::npos ? "" : text.substr(colon + 1), facts);
  } catch (const std::runtime_error&) {
    throw TopologyError("--ecn '" + text + "'; write two thresholds, in BDP or with a unit, such " +
                        "as 0.2:0.8 or 40kB:150kB");
  }
  if (plan.switches.ecn_low > plan.switches.ecn_high) {
    throw TopologyError("--ecn '" + text + "': the first is above the second");
  }
}

// Options that a comparison transport does not support.
void check_options(const Options& o) {
  check_choice(o.stack);
  if (is_model(o.stack) && o.is_evs_given) {
    throw TopologyError("--evs is of UET; --cc " + o.stack.congestion + " has no entropy values");
  }
}

Picoseconds time_of(const char* option, const std::string& text) {
  try {
    return parse_time(text);
  } catch (const TopologyError& error) {
    throw TopologyError(std::string(option) + ": " + error.what());
  }
}

// A queue, or a buffer, that holds no packet passes none on. `unit`: octets of 1 of the option.
void check_room(const char* option, uint64_t bytes, double value, double unit,
                const NetworkFacts& facts) {
  if (bytes >= facts.packet_bytes) return;
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(),
                "%s %g is %llu octets, less than a packet of %u; give at least %.3g", option, value,
                static_cast<unsigned long long>(bytes), facts.packet_bytes,
                1.01 * facts.packet_bytes / unit);
  throw TopologyError(text.data());
}

void set_switches(RunPlan& plan, const Options& o, const NetworkFacts& facts) {
  plan.switches = switches_for(facts, !o.is_trimming_off, plan.stack.congestion);
  if (o.queue_bdp > 0) {
    plan.switches.low_bytes =
        static_cast<uint32_t>(std::min<double>(o.queue_bdp * facts.bdp_bytes, UINT32_MAX));
    check_room("--queue-bdp", plan.switches.low_bytes, o.queue_bdp, facts.bdp_bytes, facts);
  }
  plan.switches.buffer_bytes = static_cast<uint64_t>(o.buffer_mb * 1e6);
  if (o.buffer_mb > 0) {
    check_room("--buffer-mb", plan.switches.buffer_bytes, o.buffer_mb, 1e6, facts);
  }
  plan.switches.adaptive = o.is_adaptive;
  plan.switches.pfc = o.is_pfc;
  if (!o.pfc_thresholds.empty()) set_thresholds(plan.switches, o.pfc_thresholds);
  if (!o.ecn.empty()) set_marks(plan, o.ecn, facts);
}

void set_times(RunPlan& plan, const Options& o) {
  if (!o.until.empty()) plan.until = time_of("--until", o.until);
  if (!o.report.empty()) plan.sample_every = kMicrosecond;
  if (!o.sample_every.empty()) {
    plan.sample_every = time_of("--sample", o.sample_every);
    if (plan.sample_every == 0) throw TopologyError("--sample: the interval is above 0");
  }
  plan.reroute_after =
      o.reroute_after == "never" ? kNever : time_of("--reroute-after", o.reroute_after);
}

RunPlan make_plan(const Options& o) {
  check_options(o);
  RunPlan plan;
  LinkDefaults links;
  links.mbps = static_cast<uint64_t>(o.link_gbps * 1000);
  plan.topology = make_topology(o.asked.topology, links);
  if (!o.is_quiet && plan.topology.hosts() >= kManyHosts) {
    std::fprintf(stderr, "building the fabric of %u hosts\n", plan.topology.hosts());
  }
  plan.stack = o.stack;
  if (plan.stack.congestion.empty()) plan.stack.congestion = congestion_names().front();
  if (const auto* const model = sim::transports::transport_named(plan.stack.congestion)) {
    plan.stack.balancing = model->has_one_path ? "single" : "own";
  } else if (plan.stack.balancing.empty()) {
    plan.stack.balancing = balancing_names().front();
  }
  plan.seed = o.seed;
  const Routes routes(plan.topology, o.seed);
  const NetworkFacts facts = facts_of(plan.topology, routes, plan.stack.mtu_bytes);
  plan.traffic = make_traffic(o, plan.topology.hosts(), static_cast<double>(facts.mbps) / 1000);
  set_switches(plan, o, facts);
  set_times(plan, o);
  for (const std::string& text : o.changes) {
    for (const LinkChange& c : parse_change(plan.topology, text)) plan.changes.push_back(c);
  }
  return plan;
}

// The names of files in it may be of any octets.
std::string text_of(const nlohmann::json& whole) {
  return whole.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

int run_fabric(const Options& options) {
  try {
    if (!options.report.empty() && !can_draw()) {
      throw TopologyError("built without D3, so there is no --report (Debian: node-d3)");
    }
    if (options.json == "-" && options.report == "-") {
      throw TopologyError("--json - and --report -: both would be on standard output");
    }
    const RunPlan plan = make_plan(options);
    OutputFile json_file("--json", options.json), page_file("--report", options.report);
    if (json_file.is_same(page_file)) {
      throw TopologyError("--json " + options.json + " and --report " + options.report +
                          ": both are one file");
    }
    Progress progress(plan);
    const RunResult result = run(plan, [&](const RunState& state) {
      if (!options.is_quiet) progress.tell(state);
    });
    const double seconds = std::max(progress.seconds(), 1e-6);
    const bool is_stdout_taken = options.json == "-" || options.report == "-";
    print_summary(is_stdout_taken ? stderr : stdout, plan, result, seconds);
    std::fflush(stdout);
    const bool is_asked = json_file.is_asked() || page_file.is_asked();
    const nlohmann::json whole =
        is_asked ? json_of_run(options.asked, plan, result) : nlohmann::json();
    if (json_file.is_asked()) json_file.write(text_of(whole) + "\n");
    if (page_file.is_asked()) page_file.write(report_page(whole, plan.topology, result));
    const bool has_failed = std::ranges::any_of(result.flows, &FlowRecord::failed);
    return result.is_finished && !has_failed ? 0 : 1;
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "uet_sim: %s\n", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "uet_sim: the system has no memory for such a run\n");
    return 2;
  }
}

std::vector<std::string> texts(const std::vector<std::string_view>& names) {
  return {names.begin(), names.end()};
}

// Values of --cc: the stack's, and the comparison transports.
std::vector<std::string_view> all_congestion() {
  std::vector<std::string_view> out = congestion_names();
  for (const auto& model : sim::transports::transport_names()) out.push_back(model.name);
  return out;
}

std::string congestion_help() {
  std::string out = "Congestion control of UET, or a transport to compare with:";
  for (const std::string_view name : all_congestion()) {
    out += "\n" + std::string(name) + ": " + std::string(congestion_text(name)) + ".";
  }
  return out +
         "\nConstants follow the name: nscc,target-us=6,gamma=0.5."
         "\nA wrong one, such as nscc,?, prints the list.";
}

std::string congestion_problem(const std::string& text) {
  const std::string name = text.substr(0, text.find(','));
  std::string known;
  for (const std::string_view other : all_congestion()) {
    if (other == name) return "";
    known += (known.empty() ? "" : ",") + std::string(other);
  }
  return name + " not in {" + known + "}";
}

void add_switch_options(CLI::App& run, Options& o) {
  run.add_option("--queue-bdp", o.queue_bdp,
                 "Size of a data queue in BDP; 0: 1, or 5 with --no-trim")
      ->check(number_between(0, 1e6));
  run.add_option("--buffer-mb", o.buffer_mb, "Buffer of a switch for all queues; 0: no limit")
      ->check(number_between(0, 1e9));
  run.add_option("--ecn", o.ecn,
                 "Data in a queue from which on some packets are marked, and from which\n"
                 "on all are, in BDP or octets: 0.2:0.8 (default) or 40kB:150kB");
  run.add_flag("--no-trim", o.is_trimming_off, "Switches drop packets instead of trimming them");
  run.add_flag("--adaptive", o.is_adaptive, "Switches send each packet to the shortest queue");
  run.add_flag("--pfc", o.is_pfc, "Switches pause the senders of a full queue");
  run.add_option("--pfc-thresholds", o.pfc_thresholds,
                 "As --pfc; octets of one port above which its sender pauses, and below\n"
                 "which it resumes: 120000:80000");
}

}  // namespace

std::function<int()> add_run(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  Options& o = *options;
  CLI::App& run = *app.add_subcommand("run", "Run flows over a fabric of switches");
  run.add_option("--topo", o.asked.topology,
                 "File of htsim, fattree:K, leafspine:AxDxU, rail:NxG or railonly:NxG,\n"
                 "then ,gbps= ,latency= ,switch=; for a fattree ,oversub= ,planes=\n"
                 ",tiers=; for a leafspine ,planes=; for rails ,scaleup=, and ,spines=\n"
                 "for rail")
      ->capture_default_str();
  run.add_option("--matrix", o.asked.matrix, "Flows: a file of htsim (.cm, .tm)");
  run.add_option("--workload", o.asked.workload,
                 "Flows by name and values, such as incast:senders=8,bytes=2MB or\n"
                 "permutation; uet_sim traffic --help lists the names");
  run.add_option("--plan", o.asked.plan,
                 "Flows of a training step: a TOML file as for uet_sim plan");
  run.add_option("--cc", o.stack.congestion, congestion_help())
      ->check(CLI::Validator(congestion_problem, "NAME"));
  run.add_option("--lb", o.stack.balancing, "How paths are chosen")
      ->check(CLI::IsMember(texts(balancing_names())));
  run.add_option("--link-gbps", o.link_gbps, "Rate of links whose rate the topology does not state")
      ->check(number_between(0.001, 1e6))
      ->capture_default_str();
  run.add_option(
         "--mtu", o.stack.mtu_bytes,
         "Octets of a full packet on the wire: the largest legal payload below,\nand headers")
      ->check(CLI::Range(1088, 9216))
      ->capture_default_str();
  run.add_option("--evs", o.stack.entropy_values, "Entropy values to spray over")
      ->check(CLI::Range(1, 65536))
      ->each([&o](const std::string&) { o.is_evs_given = true; })
      ->capture_default_str();
  run.add_option("--window-bytes", o.stack.window_bytes,
                 "Window of --cc fixed, or buffer for each sender with --cc tfc;\n0: 1.5 BDP");
  add_switch_options(run, o);
  run.add_option("--fail", o.changes,
                 "Link that fails at a time: leaf0:up1@50us. =0.25 behind the name:\n"
                 "share of its rate instead; +20us at the end: duration; *3: number of\ntimes");
  run.add_option("--reroute-after", o.reroute_after,
                 "Time until all switches know of a failure; or never")
      ->capture_default_str();
  run.add_option("--seed", o.seed, "Seed; the same seed sends the same packets")
      ->check(whole_number())
      ->capture_default_str();
  run.add_option("--until", o.until, "Simulated time at which the run ends, such as 5ms");
  run.add_option("--json", o.json, "File for the result; -: standard output");
  run.add_option("--report", o.report,
                 "File for a page with pictures of the result; -: standard output");
  run.add_option("--sample", o.sample_every,
                 "Interval of samples of queues and windows, such as 2us; with --report\n1us");
  run.add_flag("--quiet", o.is_quiet, "Print no progress on standard error");
  return [options] { return run_fabric(*options); };
}

}  // namespace uet::tools
