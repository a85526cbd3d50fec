// Equal sets of earlier tasks are one trigger: oneshot for one task, a barrier for several.
#include "sim/traffic/task_graph.h"

#include "base/assert.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace uet::sim {

void TaskGraph::set_kind(const std::string& name) { kind_ = names_.kind(name); }

uint32_t TaskGraph::send(uint32_t from, uint32_t to, uint64_t bytes, const Tasks& after,
                         Piece piece) {
  UET_ASSERT(from < hosts_ && to < hosts_ && from != to && bytes > 0);
  check_flows(static_cast<double>(tasks_.size()) + 1, "take fewer hosts, or smaller groups");
  Task task{from, to, bytes, Duration::zero(), set_of(after), kind_, piece};
  if (share_node(from, to)) {
    const double ns = static_cast<double>(bytes) * 8 / scale_up_.gbps;
    task.delay = scale_up_.latency + Duration::nanoseconds(std::llround(ns));
  }
  tasks_.push_back(task);
  single_.push_back(0);
  return static_cast<uint32_t>(tasks_.size() - 1);
}

uint32_t TaskGraph::pause(uint32_t host, Duration time, const Tasks& after) {
  UET_ASSERT(host < hosts_ && time >= Duration::zero());
  check_flows(static_cast<double>(tasks_.size()) + 1, "take fewer hosts, or smaller groups");
  tasks_.push_back({host, host, 0, time, set_of(after), kind_, {}});
  single_.push_back(0);
  return static_cast<uint32_t>(tasks_.size() - 1);
}

uint32_t TaskGraph::set_of(const Tasks& after) {
  if (after.empty()) return 0;
  Tasks sorted = after;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  UET_ASSERT(sorted.back() < tasks_.size());  // so there is no cycle
  uint32_t& number = sorted.size() == 1 ? single_[sorted[0]] : numbers_[sorted];
  if (number == 0) {
    number = static_cast<uint32_t>(sets_.size());
    sets_.push_back({static_cast<uint32_t>(members_.size()), static_cast<uint32_t>(sorted.size())});
    members_.insert(members_.end(), sorted.begin(), sorted.end());
  }
  return number;
}

namespace {

// Gives a flow the triggers that it fires, in pauses that follow it where they are more than two.
void fire_all(Traffic& traffic, uint32_t flow, std::span<const uint32_t> triggers) {
  const uint32_t host = traffic.flows[flow].to;
  while (triggers.size() > 2) {
    const uint32_t relay = traffic.add(Trigger{});
    traffic.flows[flow].fires = {triggers[0], relay};
    triggers = triggers.subspan(1);
    flow = traffic.add({.from = host, .to = host, .trigger = relay});
  }
  for (size_t i = 0; i < triggers.size(); ++i) traffic.flows[flow].fires[i] = triggers[i];
}

}  // namespace

Traffic TaskGraph::traffic(Connections connections) const {
  Traffic out{.hosts = hosts_};
  out.kinds = names_.kinds;
  for (size_t i = 1; i < sets_.size(); ++i) {
    const uint32_t count = sets_[i].count;
    out.add(count == 1 ? Trigger{} : Trigger{TriggerKind::barrier, count});
  }
  std::map<std::tuple<uint32_t, uint32_t, uint16_t>, uint32_t> numbers;  // of connections
  for (const Task& task : tasks_) {
    Flow flow{.from = task.from,
              .to = task.to,
              .bytes = task.bytes,
              .start = task.delay,
              .trigger = task.after,
              .kind = task.kind};
    if (share_node(task.from, task.to)) {
      flow.to = flow.from;
      flow.bytes = 0;
    } else if (connections == Connections::shared) {
      uint32_t& number = numbers[{task.from, task.to, task.kind}];
      if (number == 0) number = static_cast<uint32_t>(numbers.size());
      flow.connection = number;
    }
    out.add(flow);
  }
  // The sets of which each task is a member.
  std::vector<uint32_t> first(tasks_.size() + 1), fired(members_.size());
  for (const uint32_t member : members_) ++first[member + 1];
  for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  std::vector<uint32_t> next(first);
  for (uint32_t set = 1; set < sets_.size(); ++set) {
    for (uint32_t i = 0; i < sets_[set].count; ++i) {
      fired[next[members_[sets_[set].first + i]]++] = set;
    }
  }
  for (uint32_t task = 0; task < tasks_.size(); ++task) {
    fire_all(out, task, std::span(fired).subspan(first[task], first[task + 1] - first[task]));
  }
  return out;
}

}  // namespace uet::sim
