// The data of a run for the page.
#include "tools/sim/report/report.h"

#include "tools/sim/report/parts.h"
#include "tools/sim/report/samples_json.h"

namespace uet::tools {
namespace {

using namespace sim::fabric;

// Every link in both directions, also those that carried nothing.
nlohmann::json links_of(const Topology& topology, const RunResult& run) {
  auto out = nlohmann::json::array();
  for (uint32_t i = 0; i < run.ports.size(); ++i) {
    const Port& p = run.ports[i];
    const auto& link = topology.links()[i / 2];
    const double mbps = static_cast<double>(link.mbps);
    const double could = static_cast<double>(run.end) * 1e-6 / 8 * mbps;
    out.push_back({{"kind", kind_of_port(topology, p)},
                   {"link", topology.link_name(i / 2)},
                   {"from", topology.name(p.from)},
                   {"to", topology.name(p.to)},
                   {"row", topology.name(p.from_host || p.to_host ? link.upper : link.lower)},
                   {"gbps", mbps * 1e-3},
                   {"use", could > 0 ? static_cast<double>(p.sent_bytes) / could : 0},
                   {"bytes", p.sent_bytes},
                   {"trimmed", p.trimmed},
                   {"marked", p.marked},
                   {"dropped", p.dropped},
                   {"queue", p.low_max}});
  }
  return out;
}

}  // namespace

std::string report_page(const nlohmann::json& result, const Topology& topology,
                        const RunResult& run) {
  nlohmann::json data = result;
  data.erase("ports");
  data.erase("counters");
  data["links"] = links_of(topology, run);
  return page_of({"uet_sim", kStyle, kBody, {kMap, kMain}}, "run", data);
}

}  // namespace uet::tools
