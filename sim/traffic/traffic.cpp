// The records of a traffic, what can be wrong with them, and the order in which flows begin.
#include "sim/traffic/traffic.h"

#include "base/assert.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace uet::sim {

namespace {

// So late that no run gets there, and early enough that sums stay in 64 bits.
constexpr Duration kStartMax = Duration::seconds(100'000'000);

std::string name_of(const Flow& f) {
  return "flow " + std::to_string(f.id) + " (" + std::to_string(f.from) + "->" +
         std::to_string(f.to) + ")";
}

std::string problem_of(const Traffic& t, const Flow& f) {
  if (f.from >= t.hosts || f.to >= t.hosts) {
    return "its hosts must be below " + std::to_string(t.hosts);
  }
  if (f.is_pause() != (f.bytes == 0)) {
    return f.is_pause() ? "a host cannot send to itself" : "it has no bytes";
  }
  if (f.start < Duration::zero()) return "it starts before time 0";
  if (f.start > kStartMax) return "it starts later than after 10^8 seconds";
  for (const uint32_t trigger : {f.trigger, f.fires[0], f.fires[1]}) {
    if (trigger > t.triggers.size()) return "there is no trigger " + std::to_string(trigger);
  }
  if (f.kind >= t.kinds.size()) return "there is no kind " + std::to_string(f.kind);
  return {};
}

std::string problem_of(const Trigger& trigger) {
  const bool is_barrier = trigger.kind == TriggerKind::barrier;
  if (is_barrier && trigger.count == 0) return "a barrier needs a count above 0";
  if (!is_barrier && trigger.count != 0) return "only a barrier has a count";
  return {};
}

// Messages of one connection have the same hosts.
std::string problem_of_connections(const Traffic& t) {
  std::vector<const Flow*> named;
  for (const Flow& f : t.flows) {
    if (f.connection != 0) named.push_back(&f);
  }
  std::stable_sort(named.begin(), named.end(),
                   [](const Flow* a, const Flow* b) { return a->connection < b->connection; });
  for (size_t i = 1; i < named.size(); ++i) {
    const Flow& a = *named[i - 1];
    const Flow& b = *named[i];
    if (a.connection == b.connection && (a.from != b.from || a.to != b.to)) {
      return name_of(b) + ": connection " + std::to_string(b.connection) +
             " has other hosts: " + name_of(a);
    }
  }
  return {};
}

}  // namespace

void check_flows(double flows, const char* advice) {
  if (flows <= kFlowsMax) return;
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(), "%.0f flows; at most %u are possible; %s", flows,
                kFlowsMax, advice);
  throw TrafficError(text.data());
}

uint32_t Traffic::add(Flow flow) {
  if (flows.size() >= kFlowsMax) {
    check_flows(static_cast<double>(flows.size()) + 1, "take fewer hosts or fewer flows");
  }
  flow.id = static_cast<uint32_t>(flows.size());
  flows.push_back(flow);
  return flow.id;
}

uint32_t Traffic::add(Trigger trigger) {
  triggers.push_back(trigger);
  return static_cast<uint32_t>(triggers.size());
}

uint16_t Traffic::kind(const std::string& name) {
  const auto found = std::find(kinds.begin(), kinds.end(), name);
  if (found != kinds.end()) return static_cast<uint16_t>(found - kinds.begin());
  UET_ASSERT(kinds.size() <= UINT16_MAX);
  kinds.push_back(name);
  return static_cast<uint16_t>(kinds.size() - 1);
}

uint64_t Traffic::bytes() const {
  uint64_t sum = 0;
  for (const Flow& f : flows) sum += f.bytes;
  return sum;
}

std::string Traffic::problem() const {
  for (size_t i = 0; i < triggers.size(); ++i) {
    const std::string what = problem_of(triggers[i]);
    if (!what.empty()) return "trigger " + std::to_string(i + 1) + ": " + what;
  }
  for (size_t i = 0; i < flows.size(); ++i) {
    if (flows[i].id != i) return "flow " + std::to_string(i) + ": its id is another";
    const std::string what = problem_of(*this, flows[i]);
    if (!what.empty()) return name_of(flows[i]) + ": " + what;
  }
  std::string what = problem_of_connections(*this);
  if (!what.empty()) return what;
  const auto stuck = stuck_flow();
  if (!stuck) return {};
  return name_of(flows[*stuck]) + ": it never begins, because trigger " +
         std::to_string(flows[*stuck].trigger) + " does not fire often enough";
}

std::optional<uint32_t> Traffic::stuck_flow() const {
  Progress progress(*this);
  std::vector<bool> began(flows.size());
  std::vector<uint32_t> open;
  const auto note = [&](std::span<const Progress::Begin> begins) {
    for (const Progress::Begin& b : begins) {
      began[b.flow] = true;
      open.push_back(b.flow);
    }
  };
  note(progress.start());
  while (!open.empty()) {
    const uint32_t flow = open.back();
    open.pop_back();
    note(progress.done(flow, Duration::zero()));
  }
  const auto stuck = std::find(began.begin(), began.end(), false);
  if (stuck == began.end()) return std::nullopt;
  return static_cast<uint32_t>(stuck - began.begin());
}

Progress::Progress(const Traffic& traffic)
    : traffic_(traffic),
      first_(traffic.triggers.size() + 1),
      fired_(traffic.triggers.size()),
      is_done_(traffic.flows.size()) {
  for (const Flow& f : traffic.flows) {
    if (f.trigger != 0) ++first_[f.trigger];
  }
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  waiting_.resize(first_.back());
  std::vector<uint32_t> next(first_);
  for (const Flow& f : traffic.flows) {
    if (f.trigger != 0) waiting_[next[f.trigger - 1]++] = f.id;
  }
}

std::span<const Progress::Begin> Progress::start() {
  begins_.clear();
  for (const Flow& f : traffic_.flows) {
    if (f.trigger == 0) begin(f.id, Duration::zero());
  }
  std::stable_sort(begins_.begin(), begins_.end(),
                   [](const Begin& a, const Begin& b) { return a.at < b.at; });
  return begins_;
}

std::span<const Progress::Begin> Progress::done(uint32_t flow, Duration now) {
  UET_ASSERT(flow < is_done_.size() && !is_done_[flow]);
  is_done_[flow] = true;
  ++done_;
  begins_.clear();
  for (const uint32_t trigger : traffic_.flows[flow].fires) {
    if (trigger != 0) fire(trigger, now);
  }
  return begins_;
}

void Progress::fire(uint32_t trigger, Duration now) {
  const Trigger& t = traffic_.triggers[trigger - 1];
  const uint32_t firing = ++fired_[trigger - 1];
  const uint32_t from = first_[trigger - 1], to = first_[trigger];
  if (t.kind == TriggerKind::multishot) {
    if (firing <= to - from) begin(waiting_[from + firing - 1], now);
    return;
  }
  if (firing != (t.kind == TriggerKind::barrier ? t.count : 1)) return;
  for (uint32_t i = from; i < to; ++i) begin(waiting_[i], now);
}

void Progress::begin(uint32_t flow, Duration now) {
  begins_.push_back({flow, now + traffic_.flows[flow].start});
}

}  // namespace uet::sim
