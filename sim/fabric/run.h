// One run of a fabric: traffic between hosts over a topology, until all flows have ended. The
// result is a function of RunPlan, bit for bit.
#pragma once

#include "sim/fabric/fabric.h"
#include "sim/fabric/host_loop.h"
#include "sim/fabric/samples.h"
#include "sim/fabric/stack.h"
#include "sim/fabric/topology.h"

#include "sim/traffic/traffic.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace uet::sim::fabric {

// A link changes its rate at a time.
struct LinkChange {
  Picoseconds at = 0;
  uint32_t link = 0;
  double share = 0;  // of its rate from then on; 0: it has failed
};

// "leaf0:up1@50us": the link fails at 50 us; with =0.25 behind the name its rate falls to a quarter
// instead. "+20us" at the end: it recovers after 20 us; "+20us*3": that happens three times, with
// pauses of the same length. Throws TopologyError.
std::vector<LinkChange> parse_change(const Topology& topology, std::string_view text);

struct RunPlan {
  Topology topology;
  Traffic traffic;
  SwitchConfig switches;
  StackChoice stack;
  uint64_t seed = 1;
  Picoseconds until = kNever;  // it ends at the latest
  std::vector<LinkChange> changes;
  // After a link has changed, until the switches have found new ways; kNever: they do not.
  Picoseconds reroute_after = 0;
  Picoseconds sample_every = 0;  // at first: see Sampler; 0: no samples
  // The number of hosts whose state fits into the processor's cache. With more, memory is
  // prefetched ahead of its use; the result is the same.
  uint32_t cached_hosts = 256;
};

// How far a run is.
struct RunState {
  Picoseconds now = 0;
  uint64_t events = 0;
  uint64_t flows_done = 0;
  uint64_t flows = 0;
  uint64_t bytes_begun = 0;  // payload that has left its host once
};

// What happened to the network.
struct NetworkEvent {
  LinkChange change;
  bool is_reroute = false;  // the switches found new ways at change.at; else the link has changed
};

struct RunResult {
  std::vector<FlowRecord> flows;
  std::vector<Port> ports;
  Tally tally;
  uint32_t in_flight = 0;  // packets, at the end
  NetworkFacts facts;
  Picoseconds end = 0;  // the last flow has ended, or `until`, or nothing happens any more
  uint64_t events = 0;
  uint64_t digest = 0;                                     // of all packets
  uint32_t hosts_up = 0;                                   // that took part
  std::vector<std::pair<std::string, uint64_t>> counters;  // of all hosts together
  bool is_finished = false;                                // all flows have ended
  std::vector<NetworkEvent> happened;                      // in its order
  Samples samples;
};

// `told` is called now and then, and may be empty. Throws TopologyError.
RunResult run(const RunPlan& plan, const std::function<void(const RunState&)>& told = {});

}  // namespace uet::sim::fabric
