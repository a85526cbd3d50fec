// Topologies from a file or from a few words.
#pragma once

#include "sim/fabric/topology.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace uet::sim::fabric {

// Defaults of links and switches for requests and files.
struct LinkDefaults {
  uint64_t mbps = 100'000;
  Picoseconds latency = kMicrosecond;
  Picoseconds switch_latency = 0;
};

// One tier of a tree, from the switches with hosts upward.
struct Tier {
  uint32_t down = 0;    // links of a switch downward
  uint32_t up = 0;      // and upward; the highest tier has none
  uint32_t bundle = 1;  // parallel links to each switch below
  uint64_t mbps = 0;    // of the links downward
  Picoseconds latency = kMicrosecond;
  Picoseconds switch_latency = 0;
};

// A tree of two or three tiers. Hosts are numbered from left to right.
struct Tree {
  uint32_t hosts = 0;
  uint32_t tiers = 3;
  uint32_t pod = 0;  // hosts of a pod; with two tiers there is one pod
  std::array<Tier, 3> tier;
};

// Throws TopologyError when the numbers do not fit each other. With several planes each host has a
// link to each of as many trees.
Topology build_tree(const Tree& tree, uint32_t planes = 1);

// A tree of the files that htsim takes: docs/howto/simulator.md has the format. Throws
// TopologyError with file and line.
Tree read_topo(const std::string& path, const LinkDefaults& defaults);
Tree parse_topo(std::string_view text, const std::string& name, const LinkDefaults& defaults);

// A name of a file, or one of
//   fattree:K            K^3/4 hosts under switches of K ports; tiers=2: K^2/2 hosts
//   leafspine:AxDxU      A leaves with D hosts and U spines
//   rail:NxG             N nodes of G hosts; host i of a node is on rail switch i; spines join
//                        the rails, and the hosts of a node share a scale-up switch
//   railonly:NxG         the same without spines: what changes the rail goes through a node
// with ,gbps=400 ,latency=1us ,switch=0ns behind it. A fattree also takes ,oversub=4 (uplinks of
// the leaves) ,planes=2 ,tiers=2; a leafspine ,planes=2; a rail ,spines=S ,scaleup=GBPS; a railonly
// ,scaleup=GBPS. Throws TopologyError.
Topology make_topology(const std::string& request, const LinkDefaults& defaults = {});

}  // namespace uet::sim::fabric
