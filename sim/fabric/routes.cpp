// Shortest paths: from each switch with hosts outward.
#include "sim/fabric/routes.h"

#include <algorithm>
#include <map>

namespace uet::sim::fabric {

Edges::Edges(const Topology& topology) {
  index.assign(topology.switches().size(), kNoPort);
  std::vector<std::vector<Attachment>> of_host(topology.hosts());
  for (uint32_t i = 0; i < topology.links().size(); ++i) {
    const Link& link = topology.links()[i];
    if (!topology.is_host(link.lower)) continue;
    uint32_t& edge = index[link.upper - topology.hosts()];
    if (edge == kNoPort) {
      edge = static_cast<uint32_t>(switches.size());
      switches.push_back(link.upper);
    }
    of_host[link.lower].push_back({edge, down_port(i)});
  }
  for (const auto& own : of_host) {
    first.push_back(static_cast<uint32_t>(attachments.size()));
    attachments.insert(attachments.end(), own.begin(), own.end());
  }
  first.push_back(static_cast<uint32_t>(attachments.size()));
}

Routes::Routes(const Topology& topology, uint64_t seed) : topology_(topology), edges_(topology) {
  for (uint32_t node = 0; node < topology.nodes(); ++node) {
    salts_.push_back(hash64(node, 0x726f757465, seed));
  }
  build(std::vector<bool>(topology.links().size(), true));
  measure();
}

void Routes::build(const std::vector<bool>& link_is_up) {
  const size_t switches = topology_.switches().size();
  link_is_up_ = link_is_up;
  neighbours_.assign(switches, {});
  for (uint32_t i = 0; i < topology_.links().size(); ++i) {
    const Link& link = topology_.links()[i];
    if (topology_.is_host(link.lower) || !link_is_up[i]) continue;
    neighbours_[link.lower - topology_.hosts()].push_back({link.upper, up_port(i)});
    neighbours_[link.upper - topology_.hosts()].push_back({link.lower, down_port(i)});
  }
  table_.assign(switches * edges_.switches.size(), 0);
  distances_.assign(table_.size(), kFar);
  for (uint32_t edge = 0; edge < edges_.switches.size(); ++edge) find_distances(edge);
  is_whole_ = std::ranges::find(link_is_up_, false) == link_is_up_.end() && has_all_ways();
  pool_.clear();
  std::map<std::vector<uint32_t>, uint32_t> known;
  std::vector<uint32_t> ports;
  for (size_t s = 0; s < switches; ++s) {
    const auto node = static_cast<uint32_t>(topology_.hosts() + s);
    known.clear();
    for (uint32_t edge = 0; edge < edges_.switches.size(); ++edge) {
      const uint8_t far = distances_[cell(node, edge)];
      if (far == kFar || far == 0) continue;
      ports.clear();
      for (const Neighbour& n : neighbours_[s]) {
        if (distances_[cell(n.node, edge)] + 1 == far) ports.push_back(n.port);
      }
      const auto first = static_cast<uint32_t>(pool_.size());
      const auto count = static_cast<uint32_t>(ports.size());
      const auto [found, is_new] = known.try_emplace(ports, count << kCountShift | first);
      if (is_new) pool_.insert(pool_.end(), ports.begin(), ports.end());
      if (count >> (32 - kCountShift) != 0 || pool_.size() >> kCountShift != 0) {
        throw TopologyError("a switch has too many links");
      }
      table_[cell(node, edge)] = found->second;
    }
  }
}

bool Routes::has_all_ways() const {
  const auto count = static_cast<uint32_t>(edges_.switches.size());
  for (const uint32_t from : edges_.switches) {
    for (uint32_t to = 0; to < count; ++to) {
      if (distances_[cell(from, to)] == kFar) return false;
    }
  }
  return true;
}

void Routes::find_distances(uint32_t edge) {
  std::vector<uint32_t> wave{edges_.switches[edge]}, next;
  distances_[cell(wave[0], edge)] = 0;
  for (uint8_t far = 1; !wave.empty() && far < kFar; ++far) {
    next.clear();
    for (const uint32_t node : wave) {
      for (const Neighbour& n : neighbours_[node - topology_.hosts()]) {
        uint8_t& known = distances_[cell(n.node, edge)];
        if (known != kFar) continue;
        known = far;
        next.push_back(n.node);
      }
    }
    std::swap(wave, next);
  }
}

uint8_t Routes::distance(uint32_t node, const Attachment& at) const {
  return link_is_up_[at.port / 2] ? distances_[cell(node, at.edge)] : kFar;
}

uint8_t Routes::nearest(uint32_t node, uint32_t host) const {
  uint8_t least = kFar;
  for (const Attachment& at : edges_.of(host)) least = std::min(least, distance(node, at));
  return least;
}

uint32_t Routes::links_between(uint32_t from, uint32_t to) const {
  uint8_t least = kFar;
  for (const Attachment& own : edges_.of(from)) {
    if (!link_is_up_[own.port / 2]) continue;
    least = std::min(least, nearest(edges_.switches[own.edge], to));
  }
  return least == kFar ? 0 : least + 2u;
}

std::span<const uint32_t> Routes::toward_any(uint32_t node,
                                             std::span<const Attachment> attached) const {
  found_.clear();
  uint8_t least = kFar;
  for (const Attachment& at : attached) least = std::min(least, distance(node, at));
  if (least == kFar) return {};
  for (const Attachment& at : attached) {
    if (distance(node, at) != least) continue;
    for (const uint32_t port : toward(node, at)) {
      if (std::ranges::find(found_, port) == found_.end()) found_.push_back(port);
    }
  }
  return found_;
}

std::span<const uint32_t> Routes::ports_of_host(uint32_t node, uint32_t host) const {
  found_.clear();
  if (is_whole_ && edges_.of(node).size() == 1) {
    found_.push_back(edges_.of(node)[0].port ^ 1);
    return found_;
  }
  uint8_t least = kFar;
  for (const Attachment& own : edges_.of(node)) {
    if (!link_is_up_[own.port / 2]) continue;
    const uint8_t far = nearest(edges_.switches[own.edge], host);
    if (far == kFar || far > least) continue;
    if (far < least) found_.clear();
    least = far;
    found_.push_back(own.port ^ 1);
  }
  return found_;
}

// Along one of the shortest paths each; those between two edges have the same links in a tree.
void Routes::measure() {
  const auto edge_count = static_cast<uint32_t>(edges_.switches.size());
  std::vector<Picoseconds> host_latency(edge_count, 0);
  for (const Attachment& at : edges_.attachments) {
    host_latency[at.edge] = std::max(host_latency[at.edge], topology_.links()[at.port / 2].latency);
  }
  for (uint32_t from = 0; from < edge_count; ++from) {
    for (uint32_t to = 0; to < edge_count; ++to) {
      uint32_t node = edges_.switches[from];
      if (distances_[cell(node, to)] == kFar) continue;
      Picoseconds latency =
          host_latency[from] + host_latency[to] + topology_.switch_at(node).latency;
      uint32_t links = 2;
      for (; node != edges_.switches[to]; ++links) {
        const uint32_t port = toward(node, {to, kNoPort})[0];
        const Link& link = topology_.links()[port / 2];
        node = port % 2 == 0 ? link.upper : link.lower;
        latency += link.latency + topology_.switch_at(node).latency;
      }
      if (latency > diameter_latency_) diameter_latency_ = latency;
      diameter_links_ = std::max(diameter_links_, links);
    }
  }
}

}  // namespace uet::sim::fabric
