// Writes the samples of a run as JSON; see samples_json.h.
#include "tools/sim/report/samples_json.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <span>
#include <vector>

namespace uet::tools {
namespace {

using namespace sim::fabric;

constexpr size_t kQueues = 16;  // the longest queues

double us(Picoseconds time) { return static_cast<double>(time) * 1e-6; }

// "agg" of agg17
std::string kind_of_node(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) out += c;
  }
  return out;
}

struct Reader {
  const Topology& topology;
  const RunResult& result;

  size_t instants() const { return result.samples.at.size(); }
  std::span<const PortSample> at(size_t instant) const {
    return std::span(result.samples.ports)
        .subspan(instant * result.ports.size(), result.ports.size());
  }
  uint64_t mbps(uint32_t port) const { return topology.links()[port / 2].mbps; }

  nlohmann::json kind(const std::vector<uint32_t>& ports) const {
    std::vector<uint32_t> longest, in_use;
    std::vector<double> mean, utilisation;
    for (size_t i = 0; i < instants(); ++i) {
      const auto now = at(i), before = at(i == 0 ? 0 : i - 1);
      uint32_t most = 0, busy = 0;
      double sum = 0, sent = 0, could = 0;
      const Picoseconds span = result.samples.at[i] - result.samples.at[i == 0 ? 0 : i - 1];
      for (const uint32_t p : ports) {
        most = std::max(most, now[p].data_bytes);
        sum += now[p].data_bytes;
        busy += now[p].sent != before[p].sent ? 1 : 0;
        sent += static_cast<double>(now[p].sent_bytes - before[p].sent_bytes);
        could += us(span) * static_cast<double>(mbps(p)) / 8;
      }
      longest.push_back(most);
      in_use.push_back(busy);
      mean.push_back(sum / static_cast<double>(ports.size()));
      utilisation.push_back(could > 0 ? std::min(1.0, sent / could) : 0);
    }
    return {{"ports", ports.size()},
            {"queue_max", longest},
            {"queue_mean", mean},
            {"in_use", in_use},
            {"utilisation", utilisation}};
  }

  nlohmann::json queue(uint32_t port) const {
    std::vector<uint32_t> bytes;
    for (size_t i = 0; i < instants(); ++i) bytes.push_back(at(i)[port].data_bytes);
    const Port& p = result.ports[port];
    return {{"from", topology.name(p.from)},
            {"to", topology.name(p.to)},
            {"link", topology.link_name(port / 2)},
            {"bytes", bytes}};
  }
};

nlohmann::json json_of_windows(const Samples& samples) {
  nlohmann::json out;
  for (const WindowSample& w : samples.windows) {
    out["senders"].push_back(w.senders);
    out["p10"].push_back(w.low);
    out["p50"].push_back(w.median);
    out["p90"].push_back(w.high);
    out["inflight_mean"].push_back(w.inflight);
    out["rtt_us"].push_back(static_cast<double>(w.rtt_ns) * 1e-3);
  }
  return out;
}

}  // namespace

std::string kind_of_port(const Topology& topology, const Port& port) {
  return kind_of_node(topology.name(port.from)) + " > " + kind_of_node(topology.name(port.to));
}

nlohmann::json json_of_samples(const Topology& topology, const RunResult& result) {
  const Samples& samples = result.samples;
  if (samples.at.empty()) return {};
  const Reader reader{topology, result};
  std::map<std::string, std::vector<uint32_t>> kinds;
  for (uint32_t p = 0; p < result.ports.size(); ++p) {
    kinds[kind_of_port(topology, result.ports[p])].push_back(p);
  }
  nlohmann::json links, queues = nlohmann::json::array();
  for (const auto& [name, ports] : kinds) links[name] = reader.kind(ports);
  std::vector<uint32_t> order(result.ports.size());
  std::iota(order.begin(), order.end(), 0u);
  std::erase_if(order, [&](uint32_t p) { return result.ports[p].from_host; });
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](uint32_t p) { return result.ports[p].low_max; });
  if (order.size() > kQueues) order.resize(kQueues);
  for (const uint32_t port : order) queues.push_back(reader.queue(port));
  std::vector<double> at;
  for (const Picoseconds instant : samples.at) at.push_back(us(instant));
  return {{"interval_us", us(samples.interval)},
          {"at_us", at},
          {"links", links},
          {"queues", queues},
          {"windows", json_of_windows(samples)}};
}

}  // namespace uet::tools
