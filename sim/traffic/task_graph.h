// Tasks of hosts one after another: sends, and pauses in which they compute. Each task names the
// tasks that must be done before it. The graph becomes Traffic, in which triggers stand for the
// order.
#pragma once

#include "sim/traffic/traffic.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace uet::sim {

using Tasks = std::vector<uint32_t>;  // by their numbers, which count from 0

// The part of a vector in a send, for code that tracks the contents of each host.
struct Piece {
  uint32_t first = 0;
  uint32_t count = 0;
  bool adds = false;  // the receiver adds it to its own; else it replaces its own
};

// Hosts hN to hN + N - 1 are the GPUs of a node. Their sends to each other take links of the node,
// not the fabric: each becomes a pause of the sender, as if no other send used the links.
struct ScaleUp {
  uint32_t hosts_per_node = 1;
  double gbps = 0;  // of each host; above 0 where a node has more than one
  Duration latency = Duration::zero();
};

struct Task {
  uint32_t from, to;
  uint64_t bytes;
  Duration delay;
  uint32_t after;  // number of its set of earlier tasks; 0: none
  uint16_t kind;
  Piece piece;
};

class TaskGraph {
 public:
  explicit TaskGraph(uint32_t hosts, ScaleUp scale_up = {}) : hosts_(hosts), scale_up_(scale_up) {}

  // The kind of later tasks, as in Traffic::kinds.
  void set_kind(const std::string& name);

  // Bytes above 0 from a host to another, once all of `after` are done. Returns the task's number.
  uint32_t send(uint32_t from, uint32_t to, uint64_t bytes, const Tasks& after, Piece piece = {});
  // The host computes for a while once all of `after` are done.
  uint32_t pause(uint32_t host, Duration time, const Tasks& after);

  std::span<const Task> tasks() const { return tasks_; }

  // Whether all sends of a kind between two hosts are messages on one connection.
  enum class Connections : uint8_t {
    shared,
    own
  };
  // Flows have the numbers of their tasks. Where a task fires more triggers than a flow can, pauses
  // of no length follow that fire the others.
  Traffic traffic(Connections connections = Connections::shared) const;

 private:
  struct Set {
    uint32_t first, count;  // in members_
  };
  uint32_t set_of(const Tasks& after);
  bool share_node(uint32_t a, uint32_t b) const {
    return a / scale_up_.hosts_per_node == b / scale_up_.hosts_per_node;
  }

  const uint32_t hosts_;
  const ScaleUp scale_up_;
  Traffic names_;  // only its kinds
  uint16_t kind_ = 0;
  std::vector<Task> tasks_;
  std::vector<Set> sets_{{0, 0}};
  std::vector<uint32_t> members_;
  std::vector<uint32_t> single_;       // number of the set with only this task; 0: there is none
  std::map<Tasks, uint32_t> numbers_;  // of the larger sets
};

}  // namespace uet::sim
