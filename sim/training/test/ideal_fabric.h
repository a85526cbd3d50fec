// The fabric of the alpha-beta model, to run traffic on: each host sends one flow at a time, in the
// order in which they begin, and receives any number; a flow takes its bytes over the rate, and
// then the latency.
#pragma once

#include "sim/traffic/traffic.h"
#include "sim/training/collective_time.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace uet::sim {

inline Duration finish_on_ideal_fabric(const Traffic& traffic, const Link& link) {
  // Beginnings come before ends at the same time, in the order in which they were made.
  struct Event {
    Duration at;
    uint64_t order;
    uint32_t flow;
    bool is_end;
    bool operator>(const Event& b) const { return std::tie(at, order) > std::tie(b.at, b.order); }
  };
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::vector<Duration> busy_until(traffic.hosts);
  Progress progress(traffic);
  uint64_t order = 0;
  const auto begin = [&](std::span<const Progress::Begin> begins) {
    for (const Progress::Begin& b : begins) events.push({b.at, ++order, b.flow, false});
  };
  begin(progress.start());
  Duration now;
  while (!events.empty()) {
    const Event event = events.top();
    events.pop();
    now = event.at;
    const Flow& flow = traffic.flows[event.flow];
    if (event.is_end || flow.is_pause()) {
      begin(progress.done(event.flow, now));
      continue;
    }
    Duration& busy = busy_until[flow.from];
    const double ns = static_cast<double>(flow.bytes) * 8 / link.gbps;
    busy = std::max(busy, now) + Duration::nanoseconds(std::llround(ns));
    events.push({busy + link.latency, ++order, event.flow, true});
  }
  return progress.is_finished() ? now : Duration::infinite();
}

}  // namespace uet::sim
