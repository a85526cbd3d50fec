// The names of algorithms, and the settings that a simulated network needs.
#include "sim/fabric/stack.h"

#include "sim/fabric/constants.h"

#include "sim/transports/catalogue.h"

#include "cms/tfc.h"
#include "fep/derive.h"
#include "wire/payload_mtu.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace uet::sim::fabric {
namespace {

// An algorithm by its name, and its settings in the Config.
struct Named {
  std::string_view name;
  void (*set)(cms::Config& config, const StackChoice& choice, const NetworkFacts& facts);
  std::string_view text = {};  // a line for --help
};

// 1.5 bandwidth-delay products of all ports.
uint32_t window_of(const NetworkFacts& facts) {
  const uint64_t bytes = uint64_t{facts.bdp_bytes} * facts.planes * 3 / 2;
  return static_cast<uint32_t>(std::min<uint64_t>(bytes, UINT32_MAX));
}

void set_fixed(cms::Config& config, const StackChoice& choice, const NetworkFacts& facts) {
  config.algorithm = cms::Algorithm::fixed;
  config.window_bytes_max = choice.window_bytes != 0 ? choice.window_bytes : window_of(facts);
}

void set_aimd(cms::Config& config, const StackChoice&, const NetworkFacts& facts) {
  config.algorithm = cms::Algorithm::aimd;
  config.window_bytes_max = window_of(facts);
}

void set_nscc(cms::Config& config, const StackChoice&, const NetworkFacts& facts) {
  config.algorithm = cms::Algorithm::nscc;
  config.link_mbps = static_cast<uint32_t>(facts.mbps * facts.planes);
  config.base_rtt = Duration::nanoseconds(facts.base_rtt / 1000);
  config.window_bytes_max = UINT32_MAX;
}

// The same window as NSCC: 1.5 BDP, 1.0 of it before the first grant. As in htsim, sources without
// data get credit for what comes next: else each message of a collective costs a round trip more.
// [CMS-136]
template <cms::Algorithm algorithm>
void set_credit(cms::Config& config, const StackChoice& choice, const NetworkFacts& facts) {
  set_nscc(config, choice, facts);
  config.algorithm = algorithm;
  config.credit.idle_credit = true;
  // Where nothing else slows sources down for the sake of the core. [CMS-141]
  config.credit.core_rate = algorithm == cms::Algorithm::rccc && facts.oversubscription > 1;
  config.credit.oversubscription = facts.oversubscription;
}

// --window-bytes is what the destination allocates to each source.
void set_tfc(cms::Config& config, const StackChoice& choice, const NetworkFacts& facts) {
  set_nscc(config, choice, facts);
  config.algorithm = cms::Algorithm::tfc;
  config.tfc.first_bytes = choice.window_bytes;
}

constexpr std::array kCongestion{
    Named{"nscc", set_nscc, "UET: the sender's window by delay and marks"},
    Named{"rccc", set_credit<cms::Algorithm::rccc>, "UET: credit of the receiver"},
    Named{"both", set_credit<cms::Algorithm::both>, "UET: nscc and rccc"},
    Named{"tfc", set_tfc, "UET: cells of the receiver's buffer, see --window-bytes"},
    Named{"fixed", set_fixed, "UET with one window, see --window-bytes"},
    Named{"aimd", set_aimd, "UET with a window that falls by half at losses"},
};

template <cms::Spraying kind>
void set_spraying(cms::Config& config, const StackChoice&, const NetworkFacts&) {
  config.entropy.spraying = kind;
}

constexpr std::array kBalancing{
    Named{"mixed", set_spraying<cms::Spraying::mixed>},
    Named{"reps", set_spraying<cms::Spraying::reps>},
    Named{"bitmap", set_spraying<cms::Spraying::bitmap>},
    Named{"oblivious", set_spraying<cms::Spraying::oblivious>},
    Named{"single", [](cms::Config& config, const StackChoice&,
                       const NetworkFacts&) { config.entropy_values = 1; }},
};

template <class Names>
const Named& named(const Names& names, std::string_view name, const char* what) {
  if (name.empty()) return names.front();
  for (const Named& n : names) {
    if (n.name == name) return n;
  }
  std::string known;
  for (const Named& n : names) {
    known += known.empty() ? "" : ", ";
    known += n.name;
  }
  throw TopologyError("'" + std::string(name) + "' is no " + what + "; there are " + known);
}

template <class Names>
std::vector<std::string_view> names_of(const Names& names) {
  std::vector<std::string_view> out;
  out.reserve(std::size(names));
  for (const Named& n : names) out.push_back(n.name);
  return out;
}

// Tables as large as a host with `peers` peers needs.
void set_sizes(fep::Config& c, uint32_t peers) {
  const uint32_t count = std::bit_ceil(4 * peers + 16);
  c.peers_max = count;
  c.pds.max_pdcs = std::min(count * 4, 32'768u);
  c.pds.target_floor_percent = 0;
  c.pds.newcomer_percent = 0;
  c.pds.peer_share_percent = c.pds.job_share_percent = 100;
  c.pds.challenge_above = 0;
  c.pds.tombstones = 64;
  c.pds.max_flows = c.ses.flows = c.ses.remotes = count;
  c.pds.gd_entries = c.pds.gd_per_pdc = 1024;
  c.pds.credit_sources = count;
  c.ses.unexpected_bytes = 1 << 16;
  c.ses.keeps_octets = false;
  c.ses.unexpected_messages = 64;
  c.ses.rx_messages = std::max(64u, 2 * count);
  c.ses.memory_regions = 16;
  c.ses.endpoints = 1;
}

}  // namespace

namespace {

// What the hosts below a tier may send, by what its switches pass up: the product of the tiers, at
// the worst tier. Rounded up; 1 without a second tier. At most 64, which credit can use.
uint32_t oversubscription_of(const Topology& topology) {
  std::vector<uint64_t> down(topology.nodes()), up(topology.nodes());
  for (const Link& link : topology.links()) {
    up[link.lower] += link.mbps;
    down[link.upper] += link.mbps;
  }
  std::array<double, UINT8_MAX + 1> of_tier{};  // 0: no switch of it has a way up
  for (uint32_t node = topology.hosts(); node < topology.nodes(); ++node) {
    if (up[node] == 0) continue;
    double& most = of_tier[topology.switch_at(node).tier];
    most = std::max(most, static_cast<double>(down[node]) / static_cast<double>(up[node]));
  }
  double product = 1, worst = 1;
  for (const double ratio : of_tier) {
    if (ratio == 0) break;
    product *= ratio;
    worst = std::max(worst, product);
  }
  return static_cast<uint32_t>(std::min(std::ceil(worst - 1e-9), 64.0));
}

// Windows and queues are multiples of it, of 32 bits.
void check_product(double bytes) {
  if (bytes <= double{1U << 31}) return;
  std::array<char, 120> text{};
  std::snprintf(text.data(), text.size(),
                "the bandwidth-delay product is %.0f octets; at most %u are possible", bytes,
                1U << 31);
  throw TopologyError(text.data());
}

}  // namespace

NetworkFacts facts_of(const Topology& topology, const Routes& routes, uint32_t mtu_bytes) {
  NetworkFacts facts;
  facts.packet_bytes = mtu_bytes;
  facts.header_bytes = mtu_bytes - wire::payload_within(mtu_bytes);
  facts.mbps = UINT64_MAX;
  for (const Link& link : topology.links()) {
    if (topology.is_host(link.lower)) facts.mbps = std::min(facts.mbps, link.mbps);
  }
  const auto octets = Picoseconds{mtu_bytes + kControlBytes} * routes.diameter_links();
  facts.base_rtt =
      2 * routes.diameter_latency() + octets * 8'000'000 / static_cast<int64_t>(facts.mbps);
  const auto bits =
      static_cast<double>(facts.base_rtt) * 1e-12 * static_cast<double>(facts.mbps) * 1e6;
  check_product(bits / 8);
  facts.bdp_bytes = (static_cast<uint32_t>(bits / 8) / mtu_bytes + 1) * mtu_bytes;
  facts.planes = topology.planes();
  facts.oversubscription = oversubscription_of(topology);
  return facts;
}

namespace {

// The switch features that a comparison transport needs.
void set_for_model(SwitchConfig& c, const NetworkFacts& facts, std::string_view congestion) {
  const transports::TransportFacts& wanted = *transports::transport_named(congestion);
  c.telemetry = wanted.uses_telemetry;
  transports::Marking marking;
  try {
    const auto transport = transports::make_transport(congestion);
    if (!transport->marking(network_of(facts, c, 0), marking)) return;
  } catch (const std::invalid_argument& error) {
    throw TopologyError("--cc: " + std::string(error.what()));
  }
  c.ecn_low = marking.low_bytes;
  c.ecn_high = marking.high_bytes;
  c.ecn_one_in = static_cast<uint32_t>(std::lround(1 / std::clamp(marking.most, 1e-6, 1.0)));
}

}  // namespace

SwitchConfig switches_for(const NetworkFacts& facts, bool trimming, std::string_view congestion) {
  const transports::TransportFacts* const model = transports::transport_named(congestion);
  const std::string_view name = name_before_constants(congestion);
  if (model != nullptr) trimming = trimming && model->uses_trimming;
  const uint32_t packets = facts.bdp_bytes / facts.packet_bytes;
  SwitchConfig c;
  c.trimming = trimming;
  const auto products = [&facts](uint64_t count) {
    return static_cast<uint32_t>(std::min<uint64_t>(count * facts.bdp_bytes, UINT32_MAX));
  };
  c.low_bytes = products(trimming ? 1 : 5);
  c.high_bytes = products(2);
  c.ecn_low = (packets + 4) / 5 * facts.packet_bytes;
  c.ecn_high = (packets * 4 + 4) / 5 * facts.packet_bytes;
  c.trim_bytes = kControlBytes;
  c.deals_to_planes = facts.planes > 1 && model == nullptr;
  c.ecn_last_hop = name != "rccc" && name != "both";  // [CMS-144, CMS-184]
  if (model != nullptr) set_for_model(c, facts, congestion);
  return c;
}

transports::Network network_of(const NetworkFacts& facts, const SwitchConfig& switches,
                               uint64_t seed) {
  transports::Network out;
  out.mbps = facts.mbps;
  out.base_rtt = facts.base_rtt;
  out.bdp_bytes = facts.bdp_bytes;
  out.payload_bytes = facts.packet_bytes - facts.header_bytes;
  out.header_bytes = facts.header_bytes;
  out.queue_bytes = switches.low_bytes;
  out.seed = seed;
  return out;
}

std::vector<std::string_view> congestion_names() { return names_of(kCongestion); }
std::vector<std::string_view> balancing_names() { return names_of(kBalancing); }
std::string_view congestion_text(std::string_view name) {
  const auto* const found = std::ranges::find(kCongestion, name, &Named::name);
  if (found != kCongestion.end()) return found->text;
  const transports::TransportFacts* const model = transports::transport_named(name);
  return model == nullptr ? "" : model->text;
}

bool is_model(const StackChoice& choice) {
  return transports::transport_named(choice.congestion) != nullptr;
}

namespace {

// A choice of the stack itself.
void check_stack(const StackChoice& choice) {
  const std::string& text = choice.congestion;
  const std::string name(text.empty() ? kCongestion.front().name : name_before_constants(text));
  if (choice.window_bytes != 0 && name != "fixed" && name != "tfc") {
    throw TopologyError("--window-bytes is of --cc fixed and --cc tfc; " + name +
                        " finds its window itself");
  }
  if (!has_constants(name) && name.size() < text.size()) {
    throw TopologyError("--cc " + name + " takes no constants; leave out '" +
                        text.substr(name.size()) + "'");
  }
  cms::Config scratch;
  set_constants(scratch, text);
}

}  // namespace

void check_choice(const StackChoice& choice) {
  const transports::TransportFacts* const model = transports::transport_named(choice.congestion);
  if (model == nullptr) return check_stack(choice);
  const std::string start = "--cc " + std::string(model->name) + " ";
  if (model->has_one_path && !choice.balancing.empty() && choice.balancing != "single") {
    throw TopologyError(start + "sends each flow on one path; leave out --lb " + choice.balancing);
  }
  if (!model->has_one_path && !choice.balancing.empty()) {
    throw TopologyError(start + "chooses its paths itself; leave out --lb, and give their number " +
                        "with --cc " + std::string(model->name) + ",paths=64");
  }
  if (choice.window_bytes != 0) {
    throw TopologyError(start + "has a window of its own; --window-bytes is of --cc fixed");
  }
}

namespace {

// A source that has fewer cells than a packet takes never sends.
void check_cells(const cms::Config& c) {
  if (c.algorithm != cms::Algorithm::tfc) return;
  const uint32_t needed = cms::tfc_cells(c.tfc, c.mtu_bytes);
  if (cms::tfc_first_cells(c) >= needed) return;
  throw TopologyError("--window-bytes " + std::to_string(c.tfc.first_bytes) +
                      ": with --cc tfc a packet needs " +
                      std::to_string(uint64_t{needed} * c.tfc.cell_bytes) + " octets");
}

}  // namespace

fep::Config endpoint_config(const StackChoice& choice, const NetworkFacts& facts,
                            const SwitchConfig& switches, uint32_t peers) {
  fep::Config c;
  c.ses.payload_mtu = wire::payload_within(facts.packet_bytes);
  set_sizes(c, peers);
  c.pds.packets_per_entropy = 1;
  c.pds.tx_window_packets = 1024;
  c.pds.ack_form = pds::AckForm::cc;
  c.pds.nacks_per_second_per_peer = c.pds.nacks_per_second_no_pdc = 1'000'000'000;
  c.pds.source_packets_per_second = 0;
  // Longer than any queue on the way: two classes, three of them full. [CMS-190]
  const auto drain = static_cast<int64_t>(uint64_t{switches.low_bytes} * 6 * 8'000 / facts.mbps);
  c.pds.rto_init = Duration::nanoseconds(15'000 + drain);
  c.pds.rto_min = c.pds.rto_init;
  c.pds.rto_max = c.pds.rto_init * 64;
  c.pds.tail_loss = c.pds.rto_init;
  c.pds.nack_retx = c.pds.rto_init;
  c.pds.trimmed_dscp = 16;
  c.pds.trimmed_lasthop_dscp = 18;
  c.cms.trimming = switches.trimming;  // [CMS-049]
  c.cms.entropy_values = choice.entropy_values;
  c.cms.entropy.planes = static_cast<uint8_t>(facts.planes);
  named(kCongestion, name_before_constants(choice.congestion), "way of congestion control")
      .set(c.cms, choice, facts);
  const Duration base_rtt = c.cms.base_rtt;
  set_constants(c.cms, choice.congestion);
  if (c.cms.base_rtt != base_rtt) check_product(static_cast<double>(c.cms.bdp_bytes()));
  named(kBalancing, choice.balancing, "way to choose paths").set(c.cms, choice, facts);
  fep::derive(c);
  check_cells(c.cms);
  return c;
}

}  // namespace uet::sim::fabric
