// The graph of a fabric: hosts, switches, and the links between them, as built or read from a file.
// Plain data: what runs on it is Fabric (fabric.h), which way packets take is Routes (routes.h).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace uet::sim::fabric {

// Simulated time and spans of it: picoseconds, so that 64 octets at 800 Gbit/s are exact.
using Picoseconds = int64_t;
inline constexpr Picoseconds kNanosecond = 1'000;
inline constexpr Picoseconds kMicrosecond = 1'000'000;
inline constexpr Picoseconds kNever = INT64_MAX;

// A topology that cannot be: the text names the file and line, or the part of the request.
struct TopologyError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A cable, both directions. The node with more of the network above it is `upper`.
struct Link {
  uint32_t lower = 0;  // nodes: hosts come first, then the switches
  uint32_t upper = 0;
  uint64_t mbps = 0;
  Picoseconds latency = 0;   // one way
  bool is_scale_up = false;  // within a node of hosts
};

struct Switch {
  std::string name;         // leaf0, agg3, spine1
  Picoseconds latency = 0;  // from the end of a packet's arrival until it is at the output queue
  uint8_t tier = 0;         // 0: has hosts
};

class Topology {
 public:
  // Adds a host or a switch; all hosts come before the first switch. Returns its node.
  uint32_t add_host();
  uint32_t add_switch(std::string name, uint8_t tier, Picoseconds latency);
  // Returns the number of the link.
  uint32_t connect(uint32_t lower, uint32_t upper, uint64_t mbps, Picoseconds latency,
                   bool is_scale_up = false);

  // The number of networks (planes); each host has a link to each of them, in their order. 1: the
  // links of a host are not planes.
  void set_planes(uint32_t planes) { planes_ = planes; }
  uint32_t planes() const { return planes_; }

  uint32_t hosts() const { return hosts_; }
  uint32_t nodes() const { return hosts_ + static_cast<uint32_t>(switches_.size()); }
  bool is_host(uint32_t node) const { return node < hosts_; }
  const std::vector<Switch>& switches() const { return switches_; }
  const Switch& switch_at(uint32_t node) const { return switches_[node - hosts_]; }
  const std::vector<Link>& links() const { return links_; }
  std::vector<Link>& links() { return links_; }

  // host3, or the name of a switch. Of a tier: tor and leaf are the lowest, core and spine the
  // highest.
  std::string name(uint32_t node) const;
  // The link of that name: "leaf0:up1" is the second one upward of leaf0, "spine2:down0" the
  // first one downward. Throws TopologyError.
  uint32_t link_named(std::string_view name) const;
  // A link by its name, from its lower end.
  std::string link_name(uint32_t link) const;

  // Throws TopologyError when a host has no link, or a rate is 0.
  void check() const;

 private:
  uint32_t node_named(std::string_view name) const;

  uint32_t hosts_ = 0;
  uint32_t planes_ = 1;
  std::vector<Switch> switches_;
  std::vector<Link> links_;
  std::vector<uint32_t> numbers_;      // by link: among those upward from its lower end
  std::vector<uint32_t> links_up_of_;  // by node: number of links that lead upward
};

// The ports are the directions of the links: 2 * link from the lower end to the upper one, and
// 2 * link + 1 back. The port at the other end of the cable is port ^ 1.
inline constexpr uint32_t up_port(uint32_t link) { return 2 * link; }
inline constexpr uint32_t down_port(uint32_t link) { return 2 * link + 1; }

}  // namespace uet::sim::fabric
