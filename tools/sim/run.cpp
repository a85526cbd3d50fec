// Command line of uet_sim run, its progress, its summary and its JSON.
#include "tools/sim/run.h"

#include "sim/fabric/generate.h"
#include "sim/fabric/run.h"
#include "sim/fabric/units.h"
#include "sim/traffic/matrix.h"
#include "sim/traffic/request.h"
#include "sim/training/step_traffic.h"
#include "sim/training/training_file.h"
#include "sim/transports/catalogue.h"
#include "tools/common/command_line.h"
#include "tools/sim/report/report.h"
#include "tools/sim/report/samples_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace uet::tools {
namespace {

using namespace sim::fabric;
using sim::Traffic;

struct Options {
  std::string topology = "fattree:8";
  std::string matrix, workload, plan;
  StackChoice stack;
  double link_gbps = 100;
  bool is_trimming_off = false;
  bool is_adaptive = false;
  bool is_pfc = false;
  std::string pfc_thresholds;  // octets, off:on
  bool is_evs_given = false;
  double queue_bdp = 0;  // 0: as the specification says
  double buffer_mb = 0;
  uint64_t seed = 1;
  std::string until, reroute_after = "0us";
  std::vector<std::string> changes;
  std::string json, report, sample_every;
  bool is_quiet = false;
};

Traffic make_traffic(const Options& o, uint32_t hosts) {
  const int asked = int{!o.matrix.empty()} + int{!o.workload.empty()} + int{!o.plan.empty()};
  if (asked != 1) throw TopologyError("give one of --matrix, --workload and --plan");
  if (!o.matrix.empty()) return sim::read_matrix_file(o.matrix);
  if (!o.plan.empty()) {
    sim::Training training;
    sim::read_training_file(training, o.plan);
    if (const std::string what = training.problem(); !what.empty()) throw TopologyError(what);
    return sim::traffic_of_step(training);
  }
  sim::Request request;
  request.hosts = hosts;
  request.seed = o.seed;
  request.link_gbps = o.link_gbps;
  return sim::traffic_of_text(o.workload, request);
}

Picoseconds percentile(const std::vector<Picoseconds>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto at = static_cast<size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)));
  return sorted[at];
}

double us(Picoseconds time) { return static_cast<double>(time) * 1e-6; }

nlohmann::json instant(Picoseconds at) {
  return at == kNever ? nlohmann::json() : nlohmann::json(us(at));
}

struct Summary {
  std::vector<Picoseconds> times;  // of the flows that have ended, sorted
  double mean_us = 0;
  uint64_t resent = 0, failed = 0, unfinished = 0, bytes = 0;
  double utilisation = 0;  // of the links of hosts that send, while the run lasts

  Summary(const RunPlan& plan, const RunResult& result) {
    std::vector<bool> sends(plan.topology.hosts());
    for (size_t i = 0; i < result.flows.size(); ++i) {
      const FlowRecord& f = result.flows[i];
      resent += f.resent;
      failed += f.failed ? 1 : 0;
      if (f.finish == kNever) {
        ++unfinished;
        continue;
      }
      if (plan.traffic.flows[i].is_pause()) continue;
      sends[plan.traffic.flows[i].from] = true;
      bytes += plan.traffic.flows[i].bytes;
      times.push_back(f.finish - f.start);
      mean_us += us(times.back());
    }
    std::ranges::sort(times);
    if (!times.empty()) mean_us /= static_cast<double>(times.size());
    double could = 0, did = 0;
    for (size_t port = 0; port < result.ports.size(); ++port) {
      const Port& p = result.ports[port];
      if (!p.from_host || !sends[p.from] || result.end == 0) continue;
      const auto& link = plan.topology.links()[port / 2];
      could += us(result.end) * static_cast<double>(link.mbps) / 8;
      did += static_cast<double>(p.sent_bytes);
    }
    utilisation = could > 0 ? did / could : 0;
  }
};

void print_summary(std::FILE* out, const RunPlan& plan, const RunResult& r, double seconds) {
  const Summary s(plan, r);
  const Tally& t = r.tally;
  const auto count = [](uint64_t n) { return static_cast<unsigned long long>(n); };
  std::fprintf(out, "flows %zu done, %llu unfinished, %llu failed; %llu octets\n", s.times.size(),
               count(s.unfinished), count(s.failed), count(s.bytes));
  std::fprintf(out, "completion us: mean %.1f  p50 %.1f  p99 %.1f  max %.1f\n", s.mean_us,
               us(percentile(s.times, 0.5)), us(percentile(s.times, 0.99)),
               us(percentile(s.times, 1)));
  std::fprintf(out, "packets %llu sent, %llu trimmed, %llu dropped, %llu marked, %llu resent\n",
               count(t.sent), count(t.trimmed), count(t.dropped()), count(t.marked),
               count(s.resent));
  std::fprintf(out, "utilisation of sending hosts %.3f; base RTT %.2f us, BDP %u octets\n",
               s.utilisation, us(r.facts.base_rtt), r.facts.bdp_bytes);
  std::fprintf(out, "%.3f us simulated in %.2f s: %.2f M hops/s, %.2f M events/s, digest %016llx\n",
               us(r.end), seconds, static_cast<double>(t.hops) / seconds * 1e-6,
               static_cast<double>(r.events) / seconds * 1e-6, count(r.digest));
}

nlohmann::json json_of_ports(const RunPlan& plan, const RunResult& r) {
  auto out = nlohmann::json::array();
  for (uint32_t i = 0; i < r.ports.size(); ++i) {
    const Port& p = r.ports[i];
    if (p.sent == 0 && p.dropped == 0) continue;
    const sim::fabric::Link& link = plan.topology.links()[i / 2];
    out.push_back({{"link", plan.topology.link_name(i / 2)},
                   {"from", plan.topology.name(p.from)},
                   {"to", plan.topology.name(p.to)},
                   {"mbps", link.mbps},
                   {"bytes", p.sent_bytes},
                   {"packets", p.sent},
                   {"data_max_bytes", p.low_max},
                   {"control_max_bytes", p.high_max},
                   {"marked", p.marked},
                   {"trimmed", p.trimmed},
                   {"dropped", p.dropped}});
  }
  return out;
}

nlohmann::json json_of(const Options& options, const RunPlan& plan, const RunResult& r) {
  const Summary s(plan, r);
  auto flows = nlohmann::json::array();
  for (size_t i = 0; i < r.flows.size(); ++i) {
    const FlowRecord& f = r.flows[i];
    const sim::Flow& asked = plan.traffic.flows[i];
    flows.push_back({{"id", i},
                     {"from", asked.from},
                     {"to", asked.to},
                     {"bytes", asked.bytes},
                     {"kind", plan.traffic.kinds[asked.kind]},
                     {"start_us", instant(f.start)},
                     {"finish_us", instant(f.finish)},
                     {"resent", f.resent},
                     {"trimmed", f.trimmed},
                     {"failed", f.failed}});
  }
  nlohmann::json counters;
  for (const auto& [name, value] : r.counters) counters[name] = value;
  const Tally& t = r.tally;
  return {{"topology", options.topology},
          {"matrix", options.matrix},
          {"workload", options.workload},
          {"plan", options.plan},
          {"congestion", plan.stack.congestion},
          {"balancing", plan.stack.balancing},
          {"seed", plan.seed},
          {"packet_bytes", r.facts.packet_bytes},
          {"base_rtt_us", us(r.facts.base_rtt)},
          {"bdp_bytes", r.facts.bdp_bytes},
          {"end_us", us(r.end)},
          {"finished", r.is_finished},
          {"digest", r.digest},
          {"totals",
           {{"flows_done", s.times.size()},
            {"flows_failed", s.failed},
            {"bytes", s.bytes},
            {"fct_mean_us", s.mean_us},
            {"fct_p50_us", us(percentile(s.times, 0.5))},
            {"fct_p99_us", us(percentile(s.times, 0.99))},
            {"fct_max_us", us(percentile(s.times, 1))},
            {"sent", t.sent},
            {"delivered", t.delivered},
            {"in_flight", r.in_flight},
            {"trimmed", t.trimmed},
            {"marked", t.marked},
            {"resent", s.resent},
            {"dropped_no_room", t.queue_dropped},
            {"dropped_link_down", t.link_dropped},
            {"dropped_no_way", t.route_dropped},
            {"pauses", t.pauses},
            {"hops", t.hops},
            {"events", r.events},
            {"utilisation", s.utilisation}}},
          {"counters", counters},
          {"samples", json_of_samples(plan.topology, r)},
          {"flows", flows},
          {"ports", json_of_ports(plan, r)}};
}

// A line a second on standard error.
class Progress {
 public:
  void tell(const RunState& state) {
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < std::chrono::seconds(1)) return;
    told_ = now;
    const double seconds = std::chrono::duration<double>(now - begun_).count();
    const double done = static_cast<double>(state.flows_done);
    const double all = static_cast<double>(state.flows);
    std::fprintf(stderr, "%.1f us simulated, %.2f M events/s, %llu of %llu flows done",
                 us(state.now), static_cast<double>(state.events) / seconds * 1e-6,
                 static_cast<unsigned long long>(state.flows_done),
                 static_cast<unsigned long long>(state.flows));
    if (done > 0) std::fprintf(stderr, ", about %.0f s left", seconds * (all - done) / done);
    std::fprintf(stderr, "\n");
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }

 private:
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

// Options that a comparison transport does not support.
void check_options(const Options& o) {
  check_choice(o.stack);
  if (is_model(o.stack) && o.is_evs_given) {
    throw TopologyError("--evs is of UET; --cc " + o.stack.congestion + " has no entropy values");
  }
}

RunPlan make_plan(const Options& o) {
  check_options(o);
  RunPlan plan;
  LinkDefaults links;
  links.mbps = static_cast<uint64_t>(o.link_gbps * 1000);
  plan.topology = make_topology(o.topology, links);
  plan.traffic = make_traffic(o, plan.topology.hosts());
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
  plan.switches = switches_for(facts, !o.is_trimming_off, plan.stack.congestion);
  if (o.queue_bdp > 0) {
    plan.switches.low_bytes =
        static_cast<uint32_t>(std::min<double>(o.queue_bdp * facts.bdp_bytes, UINT32_MAX));
  }
  plan.switches.buffer_bytes = static_cast<uint64_t>(o.buffer_mb * 1e6);
  plan.switches.adaptive = o.is_adaptive;
  plan.switches.pfc = o.is_pfc;
  if (!o.pfc_thresholds.empty()) set_thresholds(plan.switches, o.pfc_thresholds);
  if (!o.until.empty()) plan.until = parse_time(o.until);
  if (!o.report.empty()) plan.sample_every = kMicrosecond;
  if (!o.sample_every.empty()) plan.sample_every = parse_time(o.sample_every);
  plan.reroute_after = o.reroute_after == "never" ? kNever : parse_time(o.reroute_after);
  for (const std::string& text : o.changes) {
    for (const LinkChange& c : parse_change(plan.topology, text)) plan.changes.push_back(c);
  }
  return plan;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw TopologyError(path + ": cannot be written");
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
    const RunPlan plan = make_plan(options);
    Progress progress;
    const RunResult result = run(plan, [&](const RunState& state) {
      if (!options.is_quiet) progress.tell(state);
    });
    const double seconds = std::max(progress.seconds(), 1e-6);
    print_summary(options.json == "-" ? stderr : stdout, plan, result, seconds);
    const bool is_asked = !options.json.empty() || !options.report.empty();
    const nlohmann::json whole = is_asked ? json_of(options, plan, result) : nlohmann::json();
    if (options.json == "-") {
      std::printf("%s\n", text_of(whole).c_str());
    } else if (!options.json.empty()) {
      write_file(options.json, text_of(whole) + "\n");
    }
    if (!options.report.empty()) {
      write_file(options.report, report_page(whole, plan.topology, result));
    }
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
  return out + "\nConstants of these transports go behind the name: swift,base-us=25,hop-us=0";
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
  run.add_flag("--no-trim", o.is_trimming_off, "Switches drop packets instead of trimming them");
  run.add_flag("--adaptive", o.is_adaptive, "Switches send each packet to the shortest queue");
  run.add_flag("--pfc", o.is_pfc, "Switches pause the senders of a full queue");
  run.add_option("--pfc-thresholds", o.pfc_thresholds,
                 "As --pfc; octets of one port above which its sender pauses, and below which it "
                 "resumes: 120000:80000");
}

}  // namespace

std::function<int()> add_run(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  Options& o = *options;
  CLI::App& run = *app.add_subcommand("run", "Run flows over a fabric of switches");
  run.add_option("--topo", o.topology,
                 "File of htsim, fattree:K, leafspine:AxDxU, rail:NxG or railonly:NxG, then "
                 ",gbps= ,latency= ,switch= ,oversub= ,planes= ,tiers= ,spines= ,scaleup=")
      ->capture_default_str();
  run.add_option("--matrix", o.matrix, "Flows: a file of htsim (.cm, .tm)");
  run.add_option("--workload", o.workload,
                 "Flows by name and values, such as incast:senders=8,bytes=2MB or permutation; "
                 "uet_sim traffic --help lists the names");
  run.add_option("--plan", o.plan, "Flows of a training step: a TOML file as for uet_sim plan");
  run.add_option("--cc", o.stack.congestion, congestion_help())
      ->check(CLI::Validator(congestion_problem, "NAME"));
  run.add_option("--lb", o.stack.balancing, "How paths are chosen")
      ->check(CLI::IsMember(texts(balancing_names())));
  run.add_option("--link-gbps", o.link_gbps, "Rate of links whose rate the topology does not state")
      ->check(number_between(0.001, 1e6))
      ->capture_default_str();
  run.add_option(
         "--mtu", o.stack.mtu_bytes,
         "Octets of a full packet on the wire: the largest legal payload below, and headers")
      ->check(CLI::Range(1088, 9216))
      ->capture_default_str();
  run.add_option("--evs", o.stack.entropy_values, "Entropy values to spray over")
      ->check(CLI::Range(1, 65536))
      ->each([&o](const std::string&) { o.is_evs_given = true; })
      ->capture_default_str();
  run.add_option("--window-bytes", o.stack.window_bytes,
                 "Window of --cc fixed, or buffer for each sender with --cc tfc; 0: 1.5 BDP");
  add_switch_options(run, o);
  run.add_option(
      "--fail", o.changes,
      "Link that fails at a time: leaf0:up1@50us. =0.25 behind the name: share of its rate "
      "instead; +20us at the end: duration; *3: number of times");
  run.add_option("--reroute-after", o.reroute_after,
                 "Time until all switches know of a failure; or never")
      ->capture_default_str();
  run.add_option("--seed", o.seed, "Seed; the same seed sends the same packets")
      ->capture_default_str();
  run.add_option("--until", o.until, "Simulated time at which the run ends, such as 5ms");
  run.add_option("--json", o.json, "File for the result; -: standard output");
  run.add_option("--report", o.report, "File for a page with pictures of the result");
  run.add_option("--sample", o.sample_every,
                 "Interval of samples of queues and windows, such as 2us; with --report 1us");
  run.add_flag("--quiet", o.is_quiet, "Print no progress on standard error");
  return [options] { return run_fabric(*options); };
}

}  // namespace uet::tools
