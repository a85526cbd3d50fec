// Numbers of a run, in a few lines and in JSON.
#include "tools/sim/run_result.h"

#include "tools/sim/report/samples_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace uet::tools {
namespace {

using namespace sim::fabric;

Picoseconds percentile(const std::vector<Picoseconds>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto at = static_cast<size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)));
  return sorted[at];
}

nlohmann::json instant(Picoseconds at) {
  return at == kNever ? nlohmann::json() : nlohmann::json(us(at));
}

struct Summary {
  std::vector<Picoseconds> times;  // of the flows that have ended well, sorted
  double mean_us = 0;
  uint64_t resent = 0, failed = 0, unfinished = 0, bytes = 0;
  double utilisation = 0;  // of the links of hosts that send, without those within a node

  Summary(const RunPlan& plan, const RunResult& result) {
    std::vector<bool> sends(plan.topology.hosts());
    for (size_t i = 0; i < result.flows.size(); ++i) {
      const FlowRecord& f = result.flows[i];
      const bool is_pause = plan.traffic.flows[i].is_pause();
      resent += f.resent;
      failed += f.failed ? 1 : 0;
      unfinished += f.finish == kNever ? 1 : 0;
      if (f.start != kNever && !is_pause) sends[plan.traffic.flows[i].from] = true;
      if (f.finish == kNever || f.failed || is_pause) continue;
      bytes += plan.traffic.flows[i].bytes;
      times.push_back(f.finish - f.start);
      mean_us += us(times.back());
    }
    std::ranges::sort(times);
    if (!times.empty()) mean_us /= static_cast<double>(times.size());
    double could = 0, did = 0;
    for (size_t port = 0; port < result.ports.size(); ++port) {
      const Port& p = result.ports[port];
      const auto& link = plan.topology.links()[port / 2];
      if (!p.from_host || link.is_scale_up || !sends[p.from]) continue;
      could += us(result.end) * static_cast<double>(link.mbps) / 8;
      did += static_cast<double>(p.sent_bytes);
    }
    utilisation = could > 0 ? did / could : 0;
  }
};

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

// PFC pauses so often that they are only counted.
nlohmann::json json_of_events(const RunPlan& plan, const RunResult& r) {
  auto out = nlohmann::json::array();
  for (const NetworkEvent& e : r.happened) {
    nlohmann::json one{{"event", e.is_reroute ? "reroute" : "link"}, {"at_us", us(e.change.at)}};
    if (!e.is_reroute) {
      one["link"] = plan.topology.link_name(e.change.link);
      one["share"] = e.change.share;
    }
    out.push_back(std::move(one));
  }
  if (r.tally.pauses != 0) out.push_back({{"event", "pauses"}, {"count", r.tally.pauses}});
  return out;
}

// Numbers of JSON are exact up to 2^53 only.
std::string digest_text(const RunResult& r) {
  std::array<char, 17> out{};
  std::snprintf(out.data(), out.size(), "%016llx", static_cast<unsigned long long>(r.digest));
  return out.data();
}

nlohmann::json json_of_totals(const RunResult& r, const Summary& s) {
  const Tally& t = r.tally;
  return {{"flows_done", s.times.size()},
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
          {"utilisation", s.utilisation}};
}

}  // namespace

void print_summary(std::FILE* out, const RunPlan& plan, const RunResult& r, double seconds) {
  const Summary s(plan, r);
  const Tally& t = r.tally;
  const auto count = [](uint64_t n) { return static_cast<unsigned long long>(n); };
  std::fprintf(out, "flows %zu done, %llu unfinished, %llu failed; %llu octets\n", s.times.size(),
               count(s.unfinished), count(s.failed), count(s.bytes));
  if (!s.times.empty()) {
    std::fprintf(out, "completion us: mean %.1f  p50 %.1f  p99 %.1f  max %.1f\n", s.mean_us,
                 us(percentile(s.times, 0.5)), us(percentile(s.times, 0.99)),
                 us(percentile(s.times, 1)));
  }
  std::fprintf(out, "packets %llu sent, %llu trimmed, %llu dropped, %llu marked, %llu resent\n",
               count(t.sent), count(t.trimmed), count(t.dropped()), count(t.marked),
               count(s.resent));
  std::fprintf(out, "utilisation of sending hosts %.3f; base RTT %.2f us, BDP %u octets\n",
               s.utilisation, us(r.facts.base_rtt), r.facts.bdp_bytes);
  std::fprintf(out, "%.3f us simulated in %.2f s: %.2f M hops/s, %.2f M events/s, digest %016llx\n",
               us(r.end), seconds, static_cast<double>(t.hops) / seconds * 1e-6,
               static_cast<double>(r.events) / seconds * 1e-6, count(r.digest));
}

nlohmann::json json_of_run(const AskedFor& asked, const RunPlan& plan, const RunResult& r) {
  const Summary s(plan, r);
  auto flows = nlohmann::json::array();
  for (size_t i = 0; i < r.flows.size(); ++i) {
    const FlowRecord& f = r.flows[i];
    const sim::Flow& flow = plan.traffic.flows[i];
    flows.push_back({{"id", i},
                     {"from", flow.from},
                     {"to", flow.to},
                     {"bytes", flow.bytes},
                     {"kind", plan.traffic.kinds[flow.kind]},
                     {"start_us", instant(f.start)},
                     {"finish_us", instant(f.finish)},
                     {"resent", f.resent},
                     {"trimmed", f.trimmed},
                     {"failed", f.failed}});
  }
  nlohmann::json counters;
  for (const auto& [name, value] : r.counters) counters[name] = value;
  return {{"topology", asked.topology},
          {"matrix", asked.matrix},
          {"workload", asked.workload},
          {"plan", asked.plan},
          {"congestion", plan.stack.congestion},
          {"balancing", plan.stack.balancing},
          {"seed", plan.seed},
          {"packet_bytes", r.facts.packet_bytes},
          {"base_rtt_us", us(r.facts.base_rtt)},
          {"bdp_bytes", r.facts.bdp_bytes},
          {"ecn_bytes", {plan.switches.ecn_low, plan.switches.ecn_high}},
          {"end_us", us(r.end)},
          {"finished", r.is_finished},
          {"digest", digest_text(r)},
          {"totals", json_of_totals(r, s)},
          {"events", json_of_events(plan, r)},
          {"counters", counters},
          {"samples", json_of_samples(plan.topology, r)},
          {"flows", flows},
          {"ports", json_of_ports(plan, r)}};
}

}  // namespace uet::tools
