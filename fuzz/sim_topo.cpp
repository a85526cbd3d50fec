// Fuzz target: topology files of htsim. An accepted file is a tree in which every host reaches
// every other.
#include "fuzz/target.h"
#include "sim/fabric/generate.h"
#include "sim/fabric/routes.h"

#include "base/assert.h"

#include <string_view>
#include <vector>

using namespace uet;
using namespace uet::sim::fabric;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* octets, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(octets), size);
  try {
    const Tree tree = parse_topo(text, "F", {});
    const Topology topology = build_tree(tree);
    UET_ASSERT(topology.hosts() == tree.hosts);
    topology.check();
    if (topology.hosts() > 64 || topology.links().size() > 4096) return 0;
    Routes routes(topology, 1);
    routes.build(std::vector<bool>(topology.links().size(), true));
    for (uint32_t host = 1; host < topology.hosts(); ++host) {
      const uint32_t links = routes.links_between(0, host);
      UET_ASSERT(links >= 2 && links <= 2 * tree.tiers && links % 2 == 0);
      UET_ASSERT(routes.links_between(host, 0) == links);
      UET_ASSERT(!routes.next_ports(0, host).empty());
    }
  } catch (const TopologyError&) {
    // Most inputs are wrong.
  }
  return 0;
}
