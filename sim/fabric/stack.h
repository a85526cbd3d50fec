// Set-up of the hosts of a run: the user's choices, the properties of the network, and the results:
// the Config of a FabricEndpoint, or the Network of a comparison transport.
#pragma once

#include "sim/fabric/fabric.h"
#include "sim/fabric/routes.h"
#include "sim/fabric/topology.h"

#include "sim/transports/transport.h"

#include "fep/config.h"
#include "ses/types.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace uet::sim::fabric {

struct StackChoice {
  // Of congestion_names(), empty: the first; or a comparison transport. Constants may follow.
  std::string congestion;
  std::string balancing;      // of balancing_names(); empty: the first
  uint32_t mtu_bytes = 4160;  // of a full packet on the wire: payload, the largest legal size
                              // below it, and headers
  uint32_t entropy_values = 256;
  uint32_t window_bytes = 0;  // of a fixed window; 0: 1.5 times the bandwidth-delay product
  uint64_t write_bytes = ses::kMaxMessageBytes;  // of an RMA write; a larger flow is several
};

// Properties of a topology for links of full rate and packets of full length.
struct NetworkFacts {
  uint64_t mbps = 0;              // of the slowest link of a host
  Picoseconds base_rtt = 0;       // of the longest path: a full packet there, an ACK back
  uint32_t bdp_bytes = 0;         // on the wire, in whole packets
  uint32_t packet_bytes = 0;      // a full one
  uint32_t header_bytes = 0;      // of it
  uint32_t planes = 1;            // ports of each host, of that rate
  uint32_t oversubscription = 1;  // rate of the hosts by that of the tiers above them, the worst
};

inline constexpr uint32_t kControlBytes = 64;  // on the wire, at least: ACKs and trimmed packets

NetworkFacts facts_of(const Topology& topology, const Routes& routes, uint32_t mtu_bytes);

// Thresholds as in the specification's table. If receivers grant credit, switches do not mark
// packets to hosts. [CMS-180 .. CMS-187]
SwitchConfig switches_for(const NetworkFacts& facts, bool trimming, std::string_view congestion);

std::vector<std::string_view> congestion_names();
std::vector<std::string_view> balancing_names();
// A line for --help.
std::string_view congestion_text(std::string_view name);

// The hosts run a comparison transport in place of the stack.
bool is_model(const StackChoice& choice);
// Throws TopologyError, with what to do, for unknown names and for choices that exclude each
// other: a comparison transport finds its paths, and its window, by itself.
void check_choice(const StackChoice& choice);

transports::Network network_of(const NetworkFacts& facts, const SwitchConfig& switches,
                               uint64_t seed);

// Throws TopologyError for unknown names. `peers`: the largest number of peers of a host.
fep::Config endpoint_config(const StackChoice& choice, const NetworkFacts& facts,
                            const SwitchConfig& switches, uint32_t peers);

}  // namespace uet::sim::fabric
