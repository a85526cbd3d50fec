// The page around the data.
#include "tools/sim/report/report.h"

#include "tools/sim/report/page_parts.h"
#include "tools/sim/report/samples_json.h"

#include <string_view>

namespace uet::tools {
namespace {

using namespace sim::fabric;

// Every link in both directions, also those that carried nothing.
nlohmann::json links_of(const Topology& topology, const RunResult& run) {
  auto out = nlohmann::json::array();
  for (uint32_t i = 0; i < run.ports.size(); ++i) {
    const Port& p = run.ports[i];
    const double could =
        static_cast<double>(run.end) * 1e-6 / 8 * static_cast<double>(topology.links()[i / 2].mbps);
    out.push_back({{"kind", kind_of_port(topology, p)},
                   {"link", topology.link_name(i / 2)},
                   {"from", topology.name(p.from)},
                   {"to", topology.name(p.to)},
                   {"row", topology.name(p.from_host || p.to_host ? topology.links()[i / 2].upper
                                                                  : topology.links()[i / 2].lower)},
                   {"gbps", static_cast<double>(topology.links()[i / 2].mbps) * 1e-3},
                   {"use", could > 0 ? static_cast<double>(p.sent_bytes) / could : 0},
                   {"bytes", p.sent_bytes},
                   {"trimmed", p.trimmed},
                   {"marked", p.marked},
                   {"dropped", p.dropped},
                   {"queue", p.low_max}});
  }
  return out;
}

// JSON inside a script element: no "<" of it can end the element.
std::string inside_script(const nlohmann::json& value) {
  std::string out;
  const auto text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

bool can_report() { return !std::string_view(kD3).empty(); }

std::string report_page(const nlohmann::json& result, const Topology& topology,
                        const RunResult& run) {
  nlohmann::json data = result;
  data.erase("ports");
  data.erase("counters");
  data["links"] = links_of(topology, run);
  std::string out = kPageHead;
  out += std::string("<style>\n") + kPageStyle + "</style>\n</head>\n<body>\n" + kPageBody;
  out +=
      std::string("<script type=\"text/plain\" id=\"licence\">\n") + kD3Licence + "\n</script>\n";
  out += std::string("<script>\n") + kD3 + "\n</script>\n";
  out += "<script>\nconst run = " + inside_script(data) + ";\n";
  for (const char* script : kPageScripts) out += script;
  return out + "</script>\n</body>\n</html>\n";
}

}  // namespace uet::tools
