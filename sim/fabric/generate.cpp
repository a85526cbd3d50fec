// Trees and rails from their numbers, and the words that ask for them.
#include "sim/fabric/generate.h"

#include "sim/fabric/units.h"

#include "base/assert.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <vector>

namespace uet::sim::fabric {
namespace {

void require(bool holds, const std::string& otherwise) {
  if (!holds) throw TopologyError(otherwise);
}

// Switches of one plane of a tree, by tier.
class TreeBuilder {
 public:
  TreeBuilder(Topology& topology, const Tree& tree, uint32_t plane)
      : topology_(topology), tree_(tree), plane_(plane) {}

  void build() {
    const Tier& low = tree_.tier[0];
    const Tier& high = tree_.tier[1];
    const uint32_t leaves = tree_.hosts / low.down;
    const uint32_t leaves_of_pod = tree_.pod / low.down;
    const uint32_t pods = tree_.hosts / tree_.pod;
    const uint32_t middles = low.up / high.bundle;  // of a pod
    std::vector<uint32_t> lower = add(0, "leaf", leaves);
    for (uint32_t host = 0; host < tree_.hosts; ++host) {
      topology_.connect(host, lower[host / low.down], low.mbps, low.latency);
    }
    const bool has_core = tree_.tiers == 3;
    std::vector<uint32_t> upper = add(1, has_core ? "agg" : "spine", pods * middles);
    for (uint32_t leaf = 0; leaf < leaves; ++leaf) {
      for (uint32_t i = 0; i < low.up; ++i) {
        const uint32_t at = leaf / leaves_of_pod * middles + i / high.bundle;
        topology_.connect(lower[leaf], upper[at], high.mbps, high.latency);
      }
    }
    if (has_core) build_core(upper, middles);
  }

 private:
  // Each pod's first switch is joined to the first group of cores, its second to the next, ...
  void build_core(const std::vector<uint32_t>& aggs, uint32_t middles) {
    UET_ASSERT(middles > 0);
    const Tier& top = tree_.tier[2];
    const uint32_t group = tree_.tier[1].up / top.bundle;
    const std::vector<uint32_t> cores = add(2, "core", middles * group);
    for (uint32_t agg = 0; agg < aggs.size(); ++agg) {
      for (uint32_t i = 0; i < tree_.tier[1].up; ++i) {
        const uint32_t core = agg % middles * group + i / top.bundle;
        topology_.connect(aggs[agg], cores[core], top.mbps, top.latency);
      }
    }
  }
  // Names go on from plane to plane.
  std::vector<uint32_t> add(uint8_t tier, const std::string& word, uint32_t count) {
    std::vector<uint32_t> nodes;
    for (uint32_t i = 0; i < count; ++i) {
      const std::string name = word + std::to_string(plane_ * count + i);
      nodes.push_back(topology_.add_switch(name, tier, tree_.tier[tier].switch_latency));
    }
    return nodes;
  }

  Topology& topology_;
  const Tree& tree_;
  uint32_t plane_;
};

constexpr uint32_t kHostsMax = 524'288;             // as fattree:128 has
constexpr uint32_t kPlanesMax = 32;                 // that entropy values can be dealt to [CMS-156]
constexpr uint32_t kLinksMax = 65'536;              // of a switch, each way
constexpr uint64_t kCablesMax = uint64_t{1} << 24;  // fattree:128 has 1.5 million

constexpr const char* kTooManyCables = "a topology has at most 16,777,216 cables";

void check_tree(const Tree& tree, uint32_t planes) {
  const Tier& low = tree.tier[0];
  const Tier& high = tree.tier[1];
  const Tier& top = tree.tier[2];
  require(tree.tiers == 2 || tree.tiers == 3, "a tree has 2 or 3 tiers");
  require(tree.hosts <= kHostsMax, "a tree has at most 524,288 hosts");
  for (const Tier& tier : tree.tier) {
    require(tier.down <= kLinksMax && tier.up <= kLinksMax, "a switch has at most 65,536 links");
  }
  require(tree.hosts > 0 && low.down > 0 && low.up > 0 && high.down > 0,
          "the number of hosts, and the radix of each tier, are above 0");
  require(tree.pod > 0 && tree.hosts % tree.pod == 0, "pods do not divide the hosts");
  require(tree.pod % low.down == 0, "the radix down of tier 0 does not divide a pod");
  require(high.bundle > 0 && low.up % high.bundle == 0,
          "the bundle of tier 1 does not divide the radix up of tier 0");
  require(high.down == tree.pod / low.down * high.bundle,
          "the radix down of tier 1 is not the number of tier 0 switches in a pod");
  const uint64_t up = uint64_t{tree.hosts / low.down} * low.up;
  require((tree.hosts + up) * planes <= kCablesMax, kTooManyCables);
  if (tree.tiers == 2) return require(tree.pod == tree.hosts, "with 2 tiers there is one pod");
  require(high.up > 0 && top.bundle > 0 && high.up % top.bundle == 0,
          "the bundle of tier 2 does not divide the radix up of tier 1");
  require(top.down == tree.hosts / tree.pod * top.bundle,
          "the radix down of tier 2 is not the number of pods");
  const uint64_t middles = uint64_t{tree.hosts / tree.pod} * (low.up / high.bundle);
  require((tree.hosts + up + middles * high.up) * planes <= kCablesMax, kTooManyCables);
}

// The sum of some is below 2^63 ps.
constexpr Picoseconds kLatencyMax = 1'000'000'000 * kMicrosecond;

// The words behind the kind: the numbers between x, then name=value.
struct Request {
  std::string kind;
  std::vector<uint32_t> numbers;
  std::map<std::string, std::string> options;
  std::string whole;

  uint32_t number(const std::string& name, uint32_t otherwise) const {
    const auto found = options.find(name);
    return found == options.end() ? otherwise : read_count(found->second);
  }
  uint32_t read_count(std::string_view text) const {
    uint32_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    require(is_number && out > 0, whole + ": '" + std::string(text) + "' is not a number above 0");
    return out;
  }
  LinkDefaults links(const LinkDefaults& defaults) const {
    LinkDefaults out = defaults;
    if (options.contains("gbps")) out.mbps = parse_gbps(options.at("gbps"));
    if (options.contains("latency")) out.latency = parse_time(options.at("latency"));
    if (options.contains("switch")) out.switch_latency = parse_time(options.at("switch"));
    require(out.latency <= kLatencyMax && out.switch_latency <= kLatencyMax,
            "a latency is at most 1000 s");
    return out;
  }
};

// Which options go with each kind.
struct KindOfTopology {
  std::string_view name;
  std::array<std::string_view, 6> options;
};
constexpr KindOfTopology kKinds[] = {
    {"fattree", {"gbps", "latency", "switch", "oversub", "planes", "tiers"}},
    {"leafspine", {"gbps", "latency", "switch", "planes"}},
    {"rail", {"gbps", "latency", "switch", "spines", "scaleup"}},
    {"railonly", {"gbps", "latency", "switch", "scaleup"}},
};

const KindOfTopology& kind_named(const std::string& name) {
  std::string known;
  for (const KindOfTopology& kind : kKinds) {
    if (kind.name == name) return kind;
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  }
  throw TopologyError("'" + name + "' is not a kind of topology; use one of " + known);
}

void read_option(Request& request, const KindOfTopology& kind, const std::string& word) {
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  if (equals == std::string::npos || name.empty() ||
      std::ranges::find(kind.options, name) == kind.options.end()) {
    std::string known;
    for (const std::string_view option : kind.options) {
      if (!option.empty()) known += (known.empty() ? "" : ", ") + std::string(option) + "=";
    }
    throw TopologyError(request.whole + ": '" + word + "' is not an option of " + request.kind +
                        ", which takes " + known);
  }
  require(!request.options.contains(name), request.whole + ": " + name + " is there twice");
  request.options[name] = word.substr(equals + 1);
}

Request parse_request(const std::string& text) {
  Request out;
  out.whole = text;
  const size_t colon = text.find(':');
  out.kind = text.substr(0, colon);
  const KindOfTopology& kind = kind_named(out.kind);
  size_t at = colon + 1;
  for (bool is_first = true; at <= text.size(); is_first = false) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (!is_first) {
      read_option(out, kind, word);
      continue;
    }
    for (size_t from = 0; from <= word.size();) {
      const size_t x = std::min(word.find('x', from), word.size());
      out.numbers.push_back(out.read_count(std::string_view(word).substr(from, x - from)));
      from = x + 1;
    }
  }
  return out;
}

Tier tier_of(const LinkDefaults& links, uint32_t down, uint32_t up) {
  return {down, up, 1, links.mbps, links.latency, links.switch_latency};
}

Tree fat_tree(const Request& request, const LinkDefaults& links) {
  require(request.numbers.size() == 1, request.whole + ": fattree:K takes one number");
  const uint32_t ports = request.numbers[0];
  require(ports % 2 == 0 && ports <= 128, request.whole + ": K must be even and at most 128");
  const uint32_t half = ports / 2;
  const uint32_t oversub = request.number("oversub", 1);
  require(half % oversub == 0, request.whole + ": oversub does not divide K / 2");
  Tree tree;
  tree.tiers = request.number("tiers", 3);
  require(tree.tiers == 2 || tree.tiers == 3, request.whole + ": tiers is 2 or 3");
  tree.pod = tree.tiers == 2 ? ports * half : half * half;
  tree.hosts = tree.tiers == 2 ? tree.pod : tree.pod * ports;
  tree.tier[0] = tier_of(links, half, half / oversub);
  tree.tier[1] = tier_of(links, tree.tiers == 2 ? ports : half, tree.tiers == 2 ? 0 : half);
  tree.tier[2] = tier_of(links, ports, 0);
  return tree;
}

Tree leaf_spine(const Request& request, const LinkDefaults& links) {
  require(request.numbers.size() == 3, request.whole + ": leafspine takes LEAVESxDOWNxUP");
  Tree tree;
  tree.tiers = 2;
  tree.hosts = tree.pod = request.numbers[0] * request.numbers[1];
  tree.tier[0] = tier_of(links, request.numbers[1], request.numbers[2]);
  tree.tier[1] = tier_of(links, request.numbers[0], 0);
  return tree;
}

// With spines: each host has a link to its rail and one to the switch of its node. Without: a card
// stands between host, rail and node, so that other hosts of the node may send through it.
Topology rails(const Request& request, const LinkDefaults& links, bool has_spines) {
  require(request.numbers.size() == 2, request.whole + ": takes NODESxHOSTS");
  const uint32_t nodes = request.numbers[0], rail_count = request.numbers[1];
  UET_ASSERT(nodes > 0 && rail_count > 0);
  require(uint64_t{nodes} * rail_count <= kHostsMax && request.number("spines", 1) <= kLinksMax,
          request.whole + ": at most 524,288 hosts and 65,536 spines");
  const uint32_t spines = has_spines ? request.number("spines", nodes) : 0;
  // The others are four for each host at most.
  require(uint64_t{spines} * rail_count <= kCablesMax, kTooManyCables);
  const auto named = request.options.find("scaleup");
  const uint64_t inner = named == request.options.end() ? 3'600'000 : parse_gbps(named->second);
  constexpr Picoseconds kInside = 200 * kNanosecond;
  Topology out;
  for (uint32_t i = 0; i < nodes * rail_count; ++i) out.add_host();
  std::vector<uint32_t> rail(rail_count), node(nodes);
  for (uint32_t i = 0; i < rail_count; ++i) {
    rail[i] = out.add_switch("rail" + std::to_string(i), 0, links.switch_latency);
  }
  for (uint32_t i = 0; i < nodes; ++i) node[i] = out.add_switch("node" + std::to_string(i), 0, 0);
  for (uint32_t host = 0; host < out.hosts(); ++host) {
    const uint32_t to_rail = rail[host % rail_count], to_node = node[host / rail_count];
    if (has_spines) {
      out.connect(host, to_rail, links.mbps, links.latency);
      out.connect(host, to_node, inner, kInside, true);
      continue;
    }
    const uint32_t card = out.add_switch("card" + std::to_string(host), 0, 0);
    out.connect(host, card, links.mbps, 0);
    out.connect(host, to_node, inner, kInside, true);
    out.connect(card, to_node, inner, kInside, true);
    out.connect(card, to_rail, links.mbps, links.latency);
  }
  for (uint32_t i = 0; i < spines; ++i) {
    const uint32_t spine = out.add_switch("spine" + std::to_string(i), 1, links.switch_latency);
    for (const uint32_t r : rail) out.connect(r, spine, links.mbps, links.latency);
  }
  return out;
}

}  // namespace

Topology build_tree(const Tree& tree, uint32_t planes) {
  check_tree(tree, planes);
  Topology out;
  for (uint32_t host = 0; host < tree.hosts; ++host) out.add_host();
  for (uint32_t plane = 0; plane < planes; ++plane) TreeBuilder(out, tree, plane).build();
  out.set_planes(planes);
  out.check();
  return out;
}

Topology make_topology(const std::string& text, const LinkDefaults& defaults) {
  if (text.find(':') == std::string::npos) return build_tree(read_topo(text, defaults));
  const Request request = parse_request(text);
  try {
    const LinkDefaults links = request.links(defaults);
    const uint32_t planes = request.number("planes", 1);
    require(planes <= kPlanesMax, "at most 32 planes");
    if (request.kind == "fattree") return build_tree(fat_tree(request, links), planes);
    if (request.kind == "leafspine") return build_tree(leaf_spine(request, links), planes);
    return rails(request, links, request.kind == "rail");
  } catch (const TopologyError& error) {
    const std::string what = error.what();
    throw TopologyError(what.starts_with(text) ? what : text + ": " + what);
  }
}

}  // namespace uet::sim::fabric
