// The loop, and what begins and ends in it.
#include "sim/fabric/run.h"

#include "sim/fabric/hosts.h"
#include "sim/fabric/model_hosts.h"
#include "sim/fabric/units.h"

#include "wire/payload_mtu.h"

#include <algorithm>
#include <charconv>
#include <type_traits>

namespace uet::sim::fabric {
namespace {

// The largest number of peers of a host.
uint32_t peers_of_a_host(const Traffic& traffic) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const Flow& flow : traffic.flows) {
    pairs.emplace_back(flow.from, flow.to);
    pairs.emplace_back(flow.to, flow.from);
  }
  std::ranges::sort(pairs);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  uint32_t most = 1, count = 0, last = UINT32_MAX;
  for (const auto& [host, other] : pairs) {
    count = host == last ? count + 1 : 1;
    last = host;
    most = std::max(most, count);
  }
  return most;
}

// Flows started by a trigger are on the host of the flows that fire it. Otherwise a host would have
// to know at once about events on another.
bool has_local_triggers(const Traffic& traffic) {
  std::vector<uint32_t> host(traffic.triggers.size() + 1, UINT32_MAX);
  for (const Flow& flow : traffic.flows) {
    for (const uint32_t trigger : {flow.trigger, flow.fires[0], flow.fires[1]}) {
      if (trigger == 0) continue;
      if (host[trigger] == UINT32_MAX) host[trigger] = flow.from;
      if (host[trigger] != flow.from) return false;
    }
  }
  return true;
}

// How long hosts may be left alone: what one sends does not reach another node before.
Picoseconds window_of(const Topology& topology, const Traffic& traffic) {
  Picoseconds window = kMicrosecond;
  for (const Link& link : topology.links()) {
    if (topology.is_host(link.lower)) window = std::min(window, link.latency);
  }
  return has_local_triggers(traffic) ? window : 0;
}

// With hosts that run the stack, or a comparison transport.
template <class Hosts>
class Run {
 public:
  explicit Run(const RunPlan& plan)
      : plan_(plan),
        routes_(plan.topology, plan.seed),
        facts_(facts_of(plan.topology, routes_, plan.stack.mtu_bytes)),
        hosts_(make_hosts()),
        fabric_(plan.topology, plan.switches, routes_, events_,
                static_cast<uint32_t>(plan.traffic.flows.size()), plan.seed,
                {&hosts_,
                 [](void* hosts, uint32_t packet, uint32_t host, Picoseconds now) {
                   static_cast<Hosts*>(hosts)->arrive(packet, host, now);
                 },
                 [](void* hosts, uint32_t host) { static_cast<Hosts*>(hosts)->expect(host); }}),
        sampler_(plan.sample_every),
        progress_(plan.traffic),
        window_(window_of(plan.topology, plan.traffic)),
        prefetches_(plan.topology.hosts() > plan.cached_hosts) {
    hosts_.attach(fabric_);
    if (prefetches_) events_.know_ahead(Fabric::kPrefetchedEvents);
  }

  RunResult go(const std::function<void(const RunState&)>& told) {
    for (uint32_t i = 0; i < plan_.changes.size(); ++i) {
      events_.add(plan_.changes[i].at, event(Kind::change, i));
    }
    begin(progress_.start(), 0);
    while (!progress_.is_finished() && step()) {
      constexpr uint64_t kEventsBetween = uint64_t{1} << 18;
      if (++result_.events % kEventsBetween == 0 && told) told(state());
    }
    return result();
  }

 private:
  Hosts make_hosts() {
    if constexpr (std::is_same_v<Hosts, ModelHosts>) {
      return ModelHosts(plan_.topology, routes_, plan_.traffic, plan_.stack.congestion,
                        network_of(facts_, plan_.switches, plan_.seed), events_);
    } else {
      const uint32_t peers = peers_of_a_host(plan_.traffic);
      return fabric::Hosts(plan_.topology, plan_.traffic,
                           endpoint_config(plan_.stack, facts_, plan_.switches, peers),
                           facts_.header_bytes, plan_.stack.write_bytes, events_, plan_.seed);
    }
  }

  // False: nothing will happen any more, or the time is over.
  bool step() {
    const Picoseconds next = events_.next();
    if (next >= sampler_.next()) sample(next);
    if (hosts_.due_since() != kNever) {
      const Picoseconds end = hosts_.due_since() + std::max<Picoseconds>(window_, 1);
      if (next >= end) return run_hosts(end);
      if (is_for_many(kind_of(events_.upcoming(1))) && next > hosts_.due_since()) {
        return run_hosts(next);
      }
    }
    Event due{};
    if (next > plan_.until || !events_.take(due)) return false;
    now_ = due.at;
    handle(due);
    return true;
  }

  void sample(Picoseconds next) {
    if (next == kNever) return;
    while (sampler_.next() <= next) sampler_.take(fabric_, hosts_);
  }

  // Hosts must not get ahead of such an event.
  static bool is_for_many(Kind kind) {
    return kind == Kind::pause || kind == Kind::change || kind == Kind::reroute;
  }

  bool run_hosts(Picoseconds end) {
    end = std::min(end, plan_.until == kNever ? kNever : plan_.until + 1);
    hosts_.run(end, prefetches_, [this](uint32_t flow, Picoseconds at) {
      last_end_ = std::max(last_end_, at);
      begin(progress_.done(flow, Duration::nanoseconds(at / kNanosecond)), at);
    });
    return true;
  }

  void handle(const Event& due) {
    const uint32_t index = index_of(due.who);
    if (prefetches_) fabric_.prefetch();
    switch (kind_of(due.who)) {
      case Kind::arrival:
        return fabric_.on_event(Kind::arrival, index, now_);
      case Kind::pause:
        fabric_.on_event(Kind::pause, index, now_);
        if (fabric_.ports()[index].from_host) hosts_.wake(fabric_.ports()[index].from, now_);
        return;
      case Kind::host:
        return hosts_.wake(index, now_);
      case Kind::flow:
        return hosts_.start(index, plan_.traffic.flows[index].from, now_);
      case Kind::change:
        return change(plan_.changes[index]);
      case Kind::reroute:
        return reroute();
    }
  }

  // With windows a started flow is on the same host, which is being handled now.
  void begin(std::span<const Progress::Begin> flows, Picoseconds now) {
    for (const Progress::Begin& b : flows) {
      const Picoseconds at = std::max(now, b.at.ns() * kNanosecond);
      if (window_ > 0 && is_begun_) {
        hosts_.start(b.flow, plan_.traffic.flows[b.flow].from, at);
      } else {
        events_.add(at, event(Kind::flow, b.flow));
      }
    }
    is_begun_ = true;
  }

  void change(const LinkChange& c) {
    fabric_.set_link(c.link, c.share, now_);
    result_.happened.push_back({c, false});
    if (plan_.reroute_after == 0) return reroute();
    if (plan_.reroute_after != kNever) {
      events_.add(now_ + plan_.reroute_after, event(Kind::reroute, 0));
    }
  }

  void reroute() {
    fabric_.reroute();
    result_.happened.push_back({{.at = now_}, true});
  }

  RunState state() const {
    return {now_, result_.events, progress_.flows_done(), plan_.traffic.flows.size(),
            hosts_.bytes_begun()};
  }

  RunResult result() {
    RunResult out = std::move(result_);
    out.flows = hosts_.records();
    for (uint32_t i = 0; i < out.flows.size(); ++i) {
      FlowRecord& f = out.flows[i];
      f.trimmed = fabric_.trimmed()[i];
    }
    out.ports.assign(fabric_.ports().begin(), fabric_.ports().end());
    out.is_finished = progress_.is_finished();
    out.tally = fabric_.tally();
    out.in_flight = fabric_.in_flight();
    out.facts = facts_;
    out.end = out.is_finished ? last_end_ : plan_.until == kNever ? now_ : plan_.until;
    out.digest = hosts_.digest();
    out.hosts_up = hosts_.up();
    out.counters = hosts_.counters();
    out.samples = std::move(sampler_).result(out.end);
    return out;
  }

  const RunPlan& plan_;
  EventQueue events_;
  Routes routes_;
  NetworkFacts facts_;
  Hosts hosts_;
  Fabric fabric_;
  Sampler sampler_;
  Progress progress_;
  const Picoseconds window_;
  const bool prefetches_;  // memory ahead of its use
  Picoseconds now_ = 0;
  Picoseconds last_end_ = 0;  // of a flow
  RunResult result_;          // its events, so far
  bool is_begun_ = false;     // the flows that start by time are known
};

}  // namespace

namespace {

constexpr uint32_t kRepeatsMax = 100'000;
constexpr Picoseconds kLatest = 1'000'000'000'000'000'000;  // 10^6 s

template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

[[noreturn]] void refuse_change(std::string_view text, const std::string& why) {
  throw TopologyError("--fail '" + std::string(text) + "': " + why);
}

// "20us*3" behind a change: it ends after that time, and comes again.
std::vector<LinkChange> repeated(const LinkChange& first, std::string_view lasting,
                                 std::string_view text) {
  uint32_t count = 1;
  const size_t star = lasting.find('*');
  if (star != std::string_view::npos &&
      !(read_number(lasting.substr(star + 1), count) && count >= 1 && count <= kRepeatsMax)) {
    refuse_change(text, "behind * there is a number from 1 to 100000");
  }
  const Picoseconds span = parse_time(lasting.substr(0, star));
  if (span == 0) refuse_change(text, "the duration is above 0");
  if (first.at > kLatest || span > (kLatest - first.at) / 2 / count) {
    refuse_change(text, "it ends later than after 10^6 s");
  }
  std::vector<LinkChange> out;
  for (uint32_t i = 0; i < count; ++i) {
    const Picoseconds from = first.at + 2 * span * i;
    out.push_back({from, first.link, first.share});
    out.push_back({from + span, first.link, 1});
  }
  return out;
}

}  // namespace

std::vector<LinkChange> parse_change(const Topology& topology, std::string_view text) {
  const size_t at = text.find('@');
  if (at == std::string_view::npos)
    refuse_change(text, "no change of a link; write leaf0:up1@50us");
  LinkChange change;
  std::string_view name = text.substr(0, at), time = text.substr(at + 1);
  if (const size_t equals = name.find('='); equals != std::string_view::npos) {
    const bool is_share = read_number(name.substr(equals + 1), change.share) && change.share >= 0 &&
                          change.share <= 1;
    if (!is_share) refuse_change(text, "the share of the rate is a number from 0 to 1");
    name = name.substr(0, equals);
  }
  change.link = topology.link_named(name);
  const size_t plus = time.find('+');
  change.at = parse_time(time.substr(0, plus));
  if (plus == std::string_view::npos) return {change};
  return repeated(change, time.substr(plus + 1), text);
}

namespace {

// Packets of a flow are counted in 32 bits, those sent again among them.
void check_sizes(const RunPlan& plan) {
  const uint64_t most = (uint64_t{1} << 31) * wire::payload_within(plan.stack.mtu_bytes);
  for (const Flow& flow : plan.traffic.flows) {
    if (flow.bytes <= most) continue;
    throw TopologyError("flow " + std::to_string(flow.id) + " (" + std::to_string(flow.from) +
                        "->" + std::to_string(flow.to) + ") has " + std::to_string(flow.bytes) +
                        " octets; a flow has at most " + std::to_string(most));
  }
}

}  // namespace

RunResult run(const RunPlan& plan, const std::function<void(const RunState&)>& told) {
  if (plan.traffic.hosts > plan.topology.hosts()) {
    throw TopologyError("the traffic is between " + std::to_string(plan.traffic.hosts) +
                        " hosts, the topology has " + std::to_string(plan.topology.hosts()));
  }
  if (plan.traffic.flows.empty()) throw TopologyError("there is no flow");
  check_sizes(plan);
  return is_model(plan.stack) ? Run<ModelHosts>(plan).go(told) : Run<Hosts>(plan).go(told);
}

}  // namespace uet::sim::fabric
