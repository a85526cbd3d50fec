// The tables of patterns and keys.
#include "sim/traffic/request.h"

#include "sim/traffic/collectives.h"
#include "sim/traffic/patterns.h"
#include "sim/traffic/quantity.h"

#include <cmath>
#include <limits>
#include <set>

namespace uet::sim {

namespace {

double whole(std::string_view text, Unit unit, double max) {
  const double value = parse_quantity(text, unit);
  if (value != std::floor(value) || value > max) {
    throw TrafficError("'" + std::string(text) + "' is not a whole number of that size");
  }
  return value;
}

template <auto kField>
void set_count(Request& request, std::string_view text) {
  const double max = std::numeric_limits<uint32_t>::max();
  request.*kField = static_cast<uint32_t>(whole(text, Unit::count, max));
}

template <auto kField, Unit kUnit>
void set_double(Request& request, std::string_view text) {
  request.*kField = parse_quantity(text, kUnit);
}

// Whole numbers of 64 bits go through a double, exactly up to 2^53.
template <auto kField, Unit kUnit>
void set_long(Request& request, std::string_view text) {
  request.*kField = static_cast<uint64_t>(whole(text, kUnit, 0x1p53));
}

void set_time(Request& request, std::string_view text) {
  const double seconds = parse_quantity(text, Unit::time);
  if (seconds > 1e6) throw TrafficError("'" + std::string(text) + "' is too long");
  request.time = Duration::nanoseconds(std::llround(seconds * 1e9));
}

bool is_second(std::string_view text, std::string_view first, std::string_view second) {
  if (text == second) return true;
  if (text == first) return false;
  throw TrafficError("'" + std::string(text) + "' is neither " + std::string(first) + " nor " +
                     std::string(second));
}

constexpr const char* kGrouped =
    " all-to-all ring-all-reduce tree-all-reduce halving-all-reduce reduce-scatter all-gather "
    "broadcast experts ";
constexpr const char* kCollectives =
    " ring-all-reduce tree-all-reduce halving-all-reduce reduce-scatter all-gather broadcast "
    "experts ";
constexpr const char* kSized =
    " incast outcast permutation ring all-to-all ring-all-reduce tree-all-reduce "
    "halving-all-reduce reduce-scatter all-gather broadcast experts ";
constexpr const char* kRandom = " incast outcast permutation all-to-all poisson experts ";

constexpr RequestKey kKeys[] = {
    {"hosts", "Hosts of the fabric", "", set_count<&Request::hosts>},
    {"bytes", "Of each flow; of the vector of a collective", kSized,
     set_long<&Request::bytes, Unit::bytes>},
    {"seed", "Of what is drawn at random", kRandom, set_long<&Request::seed, Unit::count>},
    {"senders", "Number of random hosts that send", " incast ", set_count<&Request::senders>},
    {"receiver", "The host that they send to", " incast ", set_count<&Request::receiver>},
    {"receivers", "Number of random hosts that receive", " outcast ",
     set_count<&Request::receivers>},
    {"sender", "The host that sends to them", " outcast ", set_count<&Request::sender>},
    {"stride", "Host h sends to h + stride", " ring ", set_count<&Request::stride>},
    {"group", "Hosts of a group; 0: all are one", kGrouped, set_count<&Request::group>},
    {"layout", "Groups are blocks of neighbours, or interleaved", kCollectives,
     [](Request& r, std::string_view v) {
       r.is_interleaved = is_second(v, "blocks", "interleaved");
     }},
    {"parallel", "Flows of a host at a time", " all-to-all ", set_count<&Request::parallel>},
    {"chunks", "Parts that follow each other", " tree-all-reduce broadcast ",
     set_count<&Request::chunks>},
    {"skew", "The k-th expert gets a share of 1 / k^skew", " experts ",
     set_double<&Request::skew, Unit::count>},
    {"load", "Mean share of the link of a host, such as 50%", " poisson ",
     set_double<&Request::load, Unit::share>},
    {"link", "Rate of the link of a host", " poisson ",
     set_double<&Request::link_gbps, Unit::gbps>},
    {"time", "Time in which flows arrive", " poisson ", set_time},
    {"sizes", "Distribution of sizes: web-search or ai", " poisson ",
     [](Request& r, std::string_view v) {
       SizeDistribution::named(std::string(v));
       r.sizes = v;
     }},
    {"connections", "Flows of a collective between two hosts: own or shared connections",
     kCollectives,
     [](Request& r, std::string_view v) { r.shares_connections = is_second(v, "own", "shared"); }},
};

constexpr PatternName kPatterns[] = {
    {"incast", "random hosts send to one"},
    {"outcast", "one host sends to random others"},
    {"permutation", "each host sends to one and receives from one"},
    {"ring", "each host sends to the one a stride further"},
    {"all-to-all", "each host of a group sends to each other one"},
    {"poisson", "flows of random sizes arrive between random hosts"},
    {"ring-all-reduce", "all-reduce in rings"},
    {"tree-all-reduce", "all-reduce in two binary trees"},
    {"halving-all-reduce", "all-reduce by recursive halving and doubling"},
    {"reduce-scatter", "in rings"},
    {"all-gather", "in rings"},
    {"broadcast", "in a pipeline"},
    {"experts", "tokens go to experts and come back"},
};

Ends add(std::string_view pattern, const Collective& c, const Request& r) {
  if (pattern == "ring-all-reduce") return ring_all_reduce(c);
  if (pattern == "tree-all-reduce") return double_tree_all_reduce(c, r.chunks);
  if (pattern == "halving-all-reduce") return halving_doubling_all_reduce(c);
  if (pattern == "reduce-scatter") return ring_reduce_scatter(c);
  if (pattern == "all-gather") return ring_all_gather(c);
  if (pattern == "broadcast") return pipeline_broadcast(c, r.chunks);
  return expert_exchange(c, {.skew = r.skew, .seed = r.seed});
}

// Known before the first is made: a host sends to all of its group, to a few partners in turn, or
// each chunk once.
double least_flows(std::string_view pattern, uint32_t hosts, uint32_t group, uint32_t chunks) {
  const bool has_chunks = pattern == "tree-all-reduce" || pattern == "broadcast";
  if (has_chunks) return (group - 1.0) * chunks * (hosts / group);
  return pattern == "halving-all-reduce" ? hosts : (group - 1.0) * hosts;
}

Traffic collectives(std::string_view pattern, const Request& r) {
  const uint32_t group = r.group == 0 ? r.hosts : r.group;
  if (r.hosts < 2 || r.hosts > 1 << 24) throw TrafficError("hosts is 2 to 16777216");
  if (group < 2 || r.hosts % group != 0) {
    throw TrafficError("group " + std::to_string(group) + " does not divide the " +
                       std::to_string(r.hosts) + " hosts, or is below 2");
  }
  if (r.bytes == 0) throw TrafficError("bytes is above 0");
  if (r.chunks == 0) throw TrafficError("chunks is above 0");
  check_flows(least_flows(pattern, r.hosts, group, r.chunks),
              "take fewer hosts, smaller groups or fewer chunks");
  TaskGraph graph(r.hosts);
  graph.set_kind(std::string(pattern));
  const uint32_t groups = r.hosts / group;
  for (uint32_t g = 0; g < groups; ++g) {
    std::vector<uint32_t> hosts;
    for (uint32_t i = 0; i < group; ++i) {
      hosts.push_back(r.is_interleaved ? i * groups + g : g * group + i);
    }
    add(pattern, {graph, hosts, r.bytes}, r);
  }
  return graph.traffic(r.shares_connections ? TaskGraph::Connections::shared
                                            : TaskGraph::Connections::own);
}

bool is_for(const RequestKey& key, std::string_view pattern) {
  const std::string_view patterns = key.patterns;
  return patterns.empty() ||
         patterns.find(" " + std::string(pattern) + " ") != std::string_view::npos;
}

void set_key(std::string_view pattern, std::string_view name, std::string_view value,
             Request& request) {
  for (const RequestKey& key : kKeys) {
    if (key.name != name) continue;
    if (!is_for(key, pattern)) break;
    try {
      key.set(request, value);
    } catch (const TrafficError& e) {
      throw TrafficError(std::string(name) + ": " + e.what());
    }
    return;
  }
  throw TrafficError(std::string(pattern) + " has no key " + std::string(name));
}

void check_pattern(std::string_view pattern) {
  std::string names;
  for (const PatternName& p : kPatterns) {
    if (p.name == pattern) return;
    names += names.empty() ? "" : ", ";
    names += p.name;
  }
  throw TrafficError("'" + std::string(pattern) + "' is not one of " + names);
}

}  // namespace

std::span<const RequestKey> request_keys() { return kKeys; }
std::span<const PatternName> pattern_names() { return kPatterns; }

Traffic traffic_of(std::string_view pattern, const Request& r) {
  check_pattern(pattern);
  const Pattern p{r.hosts, r.bytes, r.seed};
  if (pattern == "incast") return incast(p, r.senders, r.receiver);
  if (pattern == "outcast") return outcast(p, r.receivers, r.sender);
  if (pattern == "permutation") return permutation(p);
  if (pattern == "ring") return ring(p, r.stride);
  if (pattern == "all-to-all") return all_to_all(p, r.group, r.parallel);
  if (pattern == "poisson") {
    return poisson({r.hosts, r.load, r.link_gbps, r.time, r.seed},
                   SizeDistribution::named(r.sizes));
  }
  return collectives(pattern, r);
}

Traffic traffic_of_text(std::string_view text, Request request) {
  const size_t colon = text.find(':');
  const std::string_view pattern = text.substr(0, colon);
  check_pattern(pattern);
  std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  std::set<std::string_view> keys;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, comma);
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      throw TrafficError("'" + std::string(word) + "' is not KEY=VALUE");
    }
    if (!keys.insert(word.substr(0, equals)).second) {
      throw TrafficError(std::string(word.substr(0, equals)) + " is given twice");
    }
    set_key(pattern, word.substr(0, equals), word.substr(equals + 1), request);
    rest = rest.substr(std::min(comma + 1, rest.size()));
  }
  return traffic_of(pattern, request);
}

}  // namespace uet::sim
