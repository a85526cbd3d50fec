// Routes of packets: all shortest paths, by tables of the switches with hosts. A switch's table has
// one word for each of these, whatever the number of hosts; sets of ports are shared.
#pragma once

#include "sim/fabric/mapped_memory.h"
#include "sim/fabric/topology.h"

#include "base/hash.h"
#include "base/prefetch.h"

#include <cstdint>
#include <span>
#include <vector>

namespace uet::sim::fabric {

inline constexpr uint32_t kNoPort = UINT32_MAX;

// Where hosts are attached. An edge is a switch with hosts.
struct Edges {
  struct Attachment {
    uint32_t edge;  // index in `switches`
    uint32_t port;  // from that switch to the host
  };

  explicit Edges(const Topology& topology);
  std::span<const Attachment> of(uint32_t host) const {
    return {&attachments[first[host]], first[host + 1] - first[host]};
  }

  std::vector<Attachment> attachments;  // the links of host h begin at first[h]
  std::vector<uint32_t> first;
  std::vector<uint32_t> switches;  // as nodes
  std::vector<uint32_t> index;     // by switch: in `switches`; kNoPort: it has no hosts
};

class Routes {
 public:
  // The topology outlives this. Each node gets its salt from the seed.
  Routes(const Topology& topology, uint64_t seed);

  // Recomputes the tables, over the links that are up. Cost: edges x links.
  void build(const std::vector<bool>& link_is_up);

  // The ports on shortest paths from a node, or a host, to another host; empty: there is none.
  // Valid until the next call. A host of several links may send on each one with the shortest
  // distance.
  std::span<const uint32_t> next_ports(uint32_t node, uint32_t host) const {
    const auto attached = edges_.of(host);
    if (topology_.is_host(node)) return ports_of_host(node, host);
    if (attached.size() == 1) return toward(node, attached[0]);
    return toward_any(node, attached);
  }
  // The choice among `count` ports of that node for a packet, by the hash of its addresses and
  // entropy.
  uint32_t choice(uint32_t node, uint64_t path_hash, uint32_t count) const {
    const uint64_t mixed = fold_multiply(path_hash ^ salts_[node], 0x9E3779B97F4A7C15);
    return static_cast<uint32_t>(((mixed & 0xFFFF'FFFF) * count) >> 32);
  }
  // Prefetches what next_ports() reads for a switch and a host.
  void prefetch(uint32_t node, uint32_t host) const {
    uet::prefetch(&table_[cell(node, edges_.of(host)[0].edge)], sizeof(uint32_t));
  }
  const Edges& edges() const { return edges_; }
  // Cables on a shortest path between two hosts; 0: there is none.
  uint32_t links_between(uint32_t from, uint32_t to) const;

  // The longest of the shortest paths between hosts: links, and their latency including switches.
  uint32_t diameter_links() const { return diameter_links_; }
  Picoseconds diameter_latency() const { return diameter_latency_; }

 private:
  static constexpr uint8_t kFar = UINT8_MAX;

  static constexpr int kCountShift = 20;  // of an entry of table_

  struct Neighbour {
    uint32_t node;
    uint32_t port;
  };
  using Attachment = Edges::Attachment;

  size_t cell(uint32_t node, uint32_t edge) const {
    return size_t{node - topology_.hosts()} * edges_.switches.size() + edge;
  }
  std::span<const uint32_t> toward(uint32_t node, const Attachment& at) const {
    if (edges_.index[node - topology_.hosts()] == at.edge) return {&at.port, 1};
    const uint32_t entry = table_[cell(node, at.edge)];
    return {pool_.data() + (entry & ((uint32_t{1} << kCountShift) - 1)), entry >> kCountShift};
  }
  std::span<const uint32_t> toward_any(uint32_t node, std::span<const Attachment> attached) const;
  std::span<const uint32_t> ports_of_host(uint32_t node, uint32_t host) const;
  uint8_t distance(uint32_t node, const Attachment& at) const;
  uint8_t nearest(uint32_t node, uint32_t host) const;
  void find_distances(uint32_t edge);
  bool has_all_ways() const;
  void measure();

  const Topology& topology_;
  const Edges edges_;
  std::vector<uint64_t> salts_;  // by node
  std::vector<bool> link_is_up_;
  bool is_whole_ = false;  // all links are up, and there is a way between any two hosts
  std::vector<std::vector<Neighbour>> neighbours_;  // by switch: other switches
  MappedVector<uint32_t> table_;    // by switch and edge: how many ports, and the first in pool_
  std::vector<uint8_t> distances_;  // likewise: links; kFar: no way
  std::vector<uint32_t> pool_;
  uint32_t diameter_links_ = 0;
  Picoseconds diameter_latency_ = 0;
  mutable std::vector<uint32_t> found_;
};

}  // namespace uet::sim::fabric
