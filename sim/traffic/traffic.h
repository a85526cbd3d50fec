// The traffic between hosts in a run of the fabric: flows, and the triggers that start some of them
// when others are done. Plain records; Progress decides which flows may begin. The meaning is that
// of htsim's connection matrices, which matrix.h reads and writes.
#pragma once

#include "base/time.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace uet::sim {

// A message from one host to another. It is done when its source has the last ACK.
struct Flow {
  uint32_t id = 0;    // its index in Traffic::flows
  uint32_t from = 0;  // hosts, below Traffic::hosts
  uint32_t to = 0;
  uint64_t bytes = 0;  // payload; above 0
  // Time from the start of the traffic, or from the firing of its trigger, to the start of the
  // flow.
  Duration start = Duration::zero();
  uint32_t trigger = 0;             // number of the trigger that starts it; 0: it starts by time
  std::array<uint32_t, 2> fires{};  // numbers of the triggers that it fires when done; 0: none
  // Messages with the same number, which have the same hosts, are queued in their order on one
  // connection, each as soon as it begins. 0: the flow has a separate connection.
  uint32_t connection = 0;
  uint32_t priority = 0;  // larger is more urgent; 0: not given
  uint16_t kind = 0;      // index in Traffic::kinds, for reports

  // A pause of its host, for example a computation: from equals to, and bytes is 0. The fabric
  // sends nothing; the pause is done at the moment at which it begins.
  bool is_pause() const { return from == to; }
};

enum class TriggerKind : uint8_t {
  oneshot,    // the first firing starts all its flows; later ones do nothing
  multishot,  // each firing starts its next flow in the order of Traffic::flows
  barrier,    // the firing number `count` starts all its flows
};

struct Trigger {
  TriggerKind kind = TriggerKind::oneshot;
  uint32_t count = 0;  // barrier: above 0; others: 0
};

constexpr uint32_t kFlowsMax = 1 << 24;  // 16,777,216; some 2 GB

// Throws TrafficError where a workload has more flows. `advice`: how to get fewer.
void check_flows(double flows, const char* advice);

struct Traffic {
  uint32_t hosts = 0;
  std::vector<Flow> flows{};
  std::vector<Trigger> triggers{};     // their numbers are 1, 2, ...
  std::vector<std::string> kinds{""};  // names of kinds; the first is for all others

  // Appends the flow with the next id, which it returns. Throws TrafficError beyond kFlowsMax.
  uint32_t add(Flow flow);
  // Appends a trigger; returns its number.
  uint32_t add(Trigger trigger);
  // The index of a name in kinds, appended if it is new. Cost: the number of names.
  uint16_t kind(const std::string& name);
  uint64_t bytes() const;  // of all flows

  // The error in a number, a host or a trigger, or that some flows never begin even if every flow
  // is done as soon as it begins; empty: no error. Cost: the number of flows.
  std::string problem() const;
  // The first flow that never begins even if every flow is done as soon as it begins. Asks that the
  // numbers, hosts and triggers are right.
  std::optional<uint32_t> stuck_flow() const;
};

// A file or a request asks for something impossible. The text names the file and line, or the
// parameter.
struct TrafficError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The flows that begin, and when. Cost of all calls together: the number of flows.
class Progress {
 public:
  struct Begin {
    uint32_t flow;  // its id
    Duration at;    // since the start of the traffic; not before the `now` of the call
  };

  // The traffic, which has no problem(), must outlive this and not change.
  explicit Progress(const Traffic& traffic);

  // The flows that start by time, earliest first, equals by id. Call it once, first.
  std::span<const Begin> start();

  // The flow is done; returns the flows that begin because of that, by trigger and then id. Each
  // flow is done once. `now` counts from the start of the traffic. The result is valid until the
  // next call.
  std::span<const Begin> done(uint32_t flow, Duration now);

  uint64_t flows_done() const { return done_; }
  bool is_finished() const { return done_ == traffic_.flows.size(); }

 private:
  void fire(uint32_t trigger, Duration now);
  void begin(uint32_t flow, Duration now);

  // The flows that wait for trigger number t: waiting_[first_[t - 1]] up to waiting_[first_[t] -
  // 1].
  const Traffic& traffic_;
  std::vector<uint32_t> waiting_, first_;
  std::vector<uint32_t> fired_;  // how often each trigger was
  std::vector<Begin> begins_;    // the result of the last call
  std::vector<bool> is_done_;
  uint64_t done_ = 0;
};

}  // namespace uet::sim
