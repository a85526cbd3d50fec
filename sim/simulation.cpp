// The world of a run: each host runs when it has packets, a timer or something to post.
#include "sim/simulation.h"

#include "sim/address_book.h"
#include "sim/faults/odd_peer.h"
#include "sim/faults/stranger.h"
#include "sim/host.h"
#include "sim/host_network.h"
#include "sim/oracles/wire_oracle.h"
#include "sim/secured_host.h"
#include "sim/workload.h"
#include "sim/world/world.h"

#include "fep/derive.h"
#include "io/simnet/simnet.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace uet::sim {
namespace {

// Longer than any recovery with 200 ms RTOs and faults shorter than the patience limit. The longest
// seen: 300 s, long messages that share one slot through a loss of a fifth (seed 4134).
constexpr Duration kLimit = Duration::seconds(600);
// Where operations may fail, one can wait for the time-outs of several others; uncleared responses
// of a dead peer stay until its PDC expires.
constexpr Duration kLongLimit = Duration::seconds(3600);
constexpr uint64_t kStepsMax = 100'000'000;

// Tables that the plan does not set, for many times the load of one host; a post that finds them
// full is tried again. Tables that lie close together take less time and memory.
void set_sizes(fep::Config& c, const Plan& plan) {
  constexpr uint32_t kFewest = 4096;
  const uint32_t room = std::max(kFewest, 8 * (plan.operations / plan.endpoints));
  const auto limit = [&](uint32_t& size) { size = std::min(size, room); };
  c.peers_max = std::max(kFewest, 2 * plan.endpoints);
  limit(c.pds.max_flows);
  limit(c.pds.tombstones);
  limit(c.pds.return_messages);
  limit(c.pds.rudi_destinations);
  limit(c.ses.long_iovs);
  limit(c.ses.memory_regions);
  limit(c.ses.receives);
  limit(c.ses.operations);
  limit(c.ses.flows);
}

fep::Config config_of(const Plan& plan) {
  fep::Config c;
  if (plan.spec_timers) c.pds = pds::Config::spec();
  c.pds.gd_per_pdc = plan.gd_per_pdc;
  c.pds.gd_entries = plan.gd_entries;
  c.pds.reorder_packets = plan.reorder_packets;
  c.pds.reply_queue = plan.reply_queue;
  c.pds.mpr = plan.mpr;
  c.pds.default_mpr = plan.default_mpr;
  c.pds.psn_range_packets = plan.psn_range_packets;
  c.pds.rudi_window = plan.rudi_window;
  c.pds.rudi_packets = plan.rudi_packets;
  c.pds.rudi_answers = plan.rudi_answers;
  c.pds.uud_packets_per_second = plan.datagrams_per_second;
  c.pds.rod_reorder = plan.rod_reorder && !plan.spec_timers;
  c.pds.ack_per_packet = plan.ack_per_packet;
  c.pds.idle_time = plan.idle_time;
  c.ses.return_messages = plan.return_messages;
  c.ses.read_packets = plan.window_packets / 16;
  c.ses.rx_messages = plan.rx_messages;
  c.ses.unexpected_messages = plan.unexpected_messages;
  c.ses.disable_index = plan.disable_index;
  c.ses.remotes = plan.remotes;
  c.ses.medium_headers = plan.medium_headers;
  c.ses.small_headers = plan.small_headers;
  c.ses.rendezvous_bytes = plan.rendezvous_bytes;
  c.ses.rendezvous_sends = plan.rendezvous_sends;
  c.ses.rendezvous_reads = plan.rendezvous_reads;
  c.ses.defer_to = ses::DeferTo::everybody;
  c.ses.defer_bytes = plan.defer_bytes;
  c.ses.deferrable_sends = plan.deferrable_sends;
  c.ses.deferred_messages = plan.deferred_messages;
  c.ses.restarts = plan.restarts;
  c.ses.deferral_time = plan.deferral_time;
  c.pds.tx_window_packets = plan.window_packets;
  c.pds.max_pdcs = plan.pdcs_max;
  c.pds.challenge_above = plan.challenge_above;
  c.pds.packets_per_entropy = 4;
  c.pds.has_domains = plan.secured;
  if (plan.secured && plan.restart) c.pds.start_method = pds::StartMethod::random_1rtt;
  // Operations that a mute peer holds up end one after the other, after five times as long each.
  // [PDS-148]
  if (plan.mute_after > 0) c.pds.peer_timeout = Duration::seconds(1);
  c.cms = cms::Config::software();
  c.cms.algorithm = plan.congestion;
  c.pds.credit_sources = plan.credit_sources;
  if (plan.link_mbps != 0) c.cms.link_mbps = plan.link_mbps;
  c.cms.entropy_values = plan.entropy_values;
  c.cms.entropy = plan.entropy;
  c.ses.payload_mtu = static_cast<uint16_t>(plan.payload_mtu);
  c.ses.unexpected_bytes = plan.unexpected_bytes;
  c.ses.keeps_octets = !plan.lengths_only;
  set_sizes(c, plan);
  fep::derive(c);
  return c;
}

Duration limit_of(const Plan& plan) {
  const bool takes_long = plan.may_fail() || plan.restart || plan.goes_back() ||
                          plan.slow_application > Duration::zero();
  return takes_long ? kLongLimit : kLimit;
}

// Room for what many hosts have under way at once.
io::SimConfig network_of(const Plan& plan) {
  io::SimConfig c;
  c.packets_max = std::max(c.packets_max, plan.endpoints * 256);
  if (plan.lengths_only) c.carried_bytes_max = 256;  // headers, and operands of atomics
  return c;
}

// A host of the run, and what watches it.
struct Node {
  Host host;
  WireOracle* oracle = nullptr;
  const io::SimPort* port = nullptr;
  std::unique_ptr<SecuredHost> keys;  // outlives the host's card
  uint64_t counter = 0;               // of earlier lives
  Instant paused_from = Instant::never();
  Instant paused_until = Instant::never();
  uint64_t past_digest = 0;  // of the endpoints that were here before a restart
  bool is_closed = false;
};

class Run {
 public:
  Run(const Plan& plan, uint64_t seed, recording::Writer* writer)
      : plan_(plan),
        writer_(writer),
        network_(seed ^ 0x6e6574, network_of(plan)),
        workload_(plan, seed, writer != nullptr),
        rng_(seed, 0x6e6f6465),
        nodes_(plan.endpoints) {
    net().set_plan(plan.faults);
    net().advance(kStart);
    if (plan.stranger > 0) {
      stranger_ = std::make_unique<Stranger>(net(), plan.stranger, rng_.u64());
    }
    for (uint32_t i = 0; i < plan.endpoints; ++i) {
      world_.wake(world_.add(), kStart);
      add_node(i);
    }
    accident_ = world_.add();
    draw_accidents();
  }

  RunResult go() {
    drive([this] { return restart_at_.is_never() && workload_.finished(); });
    if (result_.violation.empty()) close();
    if (result_.violation.empty()) {
      workload_.judge_end();
      result_.violation = workload_.violation();
    }
    for (Node& node : nodes_) {
      retire(node);
      result_.digest = result_.digest * 0x9E3779B97F4A7C15 + node.past_digest;
    }
    for (const auto& [name, value] : counters_) result_.counters[name] += value;
    if (plan_.secured) {
      secured_counts_.for_each([this](const char* name, uint64_t value) {
        result_.counters[std::string("tss_") + name] = value;
      });
    }
    result_.simulated = world_.now() - kStart;
    return std::move(result_);
  }

 private:
  void add_node(uint32_t index) {
    Node& node = nodes_[index];
    auto port = net().attach(address_of(index));
    node.port = port.get();
    const uint32_t number = port->index();
    network_.assign(number, index);
    std::unique_ptr<io::PacketIo> card = std::move(port);
    if (plan_.secured) {
      node.keys = std::make_unique<SecuredHost>(address_of(index), node.counter, number,
                                                [this] { return world_.now(); });
      const pds::Config usual;
      const auto bit = [](uint8_t dscp) { return uint64_t{1} << dscp; };
      card = node.keys->around(std::move(card),
                               bit(usual.trimmed_dscp) | bit(usual.trimmed_lasthop_dscp));
    }
    auto odd =
        std::make_unique<OddPeer>(std::move(card), plan_, stranger_.get(), index == 0, rng_.u64());
    auto oracle = std::make_unique<WireOracle>(
        std::move(odd), WireOracle::Windows{plan_.window_packets, plan_.default_mpr * 128u,
                                            !plan_.lengths_only, plan_.secured});
    node.oracle = oracle.get();
    const uint64_t seed = rng_.u64();
    const LocalClock clock = draw_clock();
    UET_ASSERT(node.host
                   .start(config_, address_of(index), seed, std::move(oracle), clock, writer_,
                          node.keys == nullptr ? nullptr : &node.keys->jobs())
                   .ok());
    UET_ASSERT(workload_.open(index, node.host.endpoint(), clock));
  }

  LocalClock draw_clock() {
    if (plan_.clock_ppm == 0) return {};
    const auto ahead = Duration::nanoseconds(int64_t(rng_.below(1'000'000'000)));
    const auto ppm = int64_t(rng_.below(2 * plan_.clock_ppm + 1)) - plan_.clock_ppm;
    return {ahead, static_cast<int32_t>(ppm)};
  }

  // The endpoint that is stopped, the one that dies, and the path that works one way only.
  void draw_accidents() {
    const auto soon = [&] { return kStart + Duration::microseconds(int64_t(rng_.below(5'000))); };
    if (plan_.pause > Duration::zero()) {
      Node& node = nodes_[rng_.below(plan_.endpoints)];
      node.paused_from = soon();
      node.paused_until = node.paused_from + plan_.pause;
    }
    if (plan_.restart) {
      restarts_ = static_cast<uint32_t>(rng_.below(plan_.endpoints));
      const auto span = static_cast<uint64_t>(plan_.spread.ns()) / 2;
      set_restart(kStart + Duration::nanoseconds(int64_t(rng_.below(span))));
    }
    if (plan_.one_way > Duration::zero()) {
      io::FaultPlan path = plan_.faults;
      const Instant from = soon();
      path.blackholes[path.blackhole_count++] = {from, from + plan_.one_way};
      net().set_path(address_of(0), address_of(1), path);
    }
  }

  // Takes the results of an endpoint and ends it. Packets under way to it meet a closed port.
  void retire(Node& node) {
    if (!node.host.is_up()) return;
    node.past_digest = node.past_digest * 31 + node.oracle->digest();
    result_.packets += node.oracle->packets();
    size_t place = 0;
    node.host.fep().for_each_counter([&](const char* name, uint64_t value) {
      if (place == counters_.size()) counters_.emplace_back(name, 0);
      counters_[place++].second += value;
    });
    if (node.keys != nullptr) {
      node.counter = node.keys->counter();
      secured_counts_ += node.keys->counts();
    }
    node.host.stop();
    node.keys.reset();
    node.oracle = nullptr;
    node.port = nullptr;
  }

  void set_restart(Instant at) {
    restart_at_ = at;
    world_.wake(accident_, at);
  }
  // First call: the endpoint dies. Second, if it is not gone for good: another one begins at its
  // address. [PDS-190..192]
  void restart() {
    Node& node = nodes_[restarts_];
    const Instant now = world_.now();
    if (node.host.is_up()) {
      retire(node);
      workload_.lose(restarts_);
      world_.wake(restarts_, Instant::never());
      return set_restart(plan_.kill ? Instant::never() : now + plan_.restart_gap);
    }
    set_restart(Instant::never());
    add_node(restarts_);
    workload_.come_back(now);
    world_.wake(restarts_, now);
  }

  // Runs until `done`, an oracle breaks, or the limit passes.
  template <class Done>
  void drive(Done done) {
    while (!done()) {
      if (!step()) return;
    }
  }

  bool step() {
    if (++steps_ > kStepsMax) {
      return fail("the run did not end in 100 million steps; waiting: " + workload_.unfinished());
    }
    const Instant next = world_.next();
    if (next.is_never()) {
      return fail("nothing will ever happen; waiting: " + workload_.unfinished());
    }
    if (next - kStart > limit_) {
      return fail("not finished after " + std::to_string(limit_.ms()) +
                  " ms; waiting: " + workload_.unfinished());
    }
    world_.step(next, [this](uint32_t actor) {
      if (actor != accident_) return visit(actor);
      restart();
      return restart_at_;
    });
    return result_.violation.empty();
  }

  // Returns when the host runs again.
  Instant visit(uint32_t index) {
    Node& node = nodes_[index];
    const Instant now = world_.now();
    if (!node.host.is_up() || !result_.violation.empty()) return Instant::never();
    if (node.paused_from <= now && now < node.paused_until) return node.paused_until;
    const Instant next_post = workload_.post_due(index, now);
    const bool moved = node.host.run(now);
    workload_.judge();
    note(workload_.violation());
    note(node.oracle->violation());
    // Received packets may have made room for posts, or may require some; and more may wait.
    const bool wants_more = moved && (node.port->readable() || workload_.has_due(index, now));
    note_closed(node);
    return std::min(next_post, node.host.next_run(now, wants_more));
  }

  void note_closed(Node& node) {
    if (!is_closing_) return;
    const bool is_closed = !node.host.is_up() || node.host.is_closed();
    if (is_closed == node.is_closed) return;
    node.is_closed = is_closed;
    if (is_closed) {
      --open_;
    } else {
      ++open_;
    }
  }

  // After the work: every PDC closes in order and nothing is left in any pool.
  void close() {
    is_closing_ = true;
    open_ = static_cast<uint32_t>(nodes_.size());
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].host.is_up()) {
        nodes_[i].host.close(world_.now());
        world_.wake(i, world_.now());
      }
      note_closed(nodes_[i]);
    }
    drive([this] { return open_ == 0; });
    for (const Node& node : nodes_) {
      const bool is_empty = !node.host.is_up() || node.host.fep().pds().usage() == pds::Usage{};
      if (!is_empty) fail("all PDCs are closed, and something of a pool is still held");
    }
  }

  // The first violation counts. Empty: there is none.
  void note(const std::string& violation) {
    if (result_.violation.empty()) result_.violation = violation;
  }
  bool fail(const std::string& what) {
    note(what);
    return false;
  }

  io::SimNet& net() { return network_.net(); }

  Plan plan_;
  recording::Writer* writer_;
  const fep::Config config_ = config_of(plan_);
  const Duration limit_ = limit_of(plan_);
  HostNetwork network_;
  World<HostNetwork> world_{network_, kStart};  // its actors: the hosts, by index; the accident
  std::unique_ptr<Stranger> stranger_;
  Workload workload_;
  Rng rng_;
  std::vector<Node> nodes_;
  uint32_t accident_ = kNobody;  // what ends a host and starts it again
  uint32_t restarts_ = 0;        // that host
  Instant restart_at_ = Instant::never();
  tss::Counts secured_counts_;
  uint64_t steps_ = 0;
  bool is_closing_ = false;
  uint32_t open_ = 0;                                       // hosts that are not closed yet
  std::vector<std::pair<const char*, uint64_t>> counters_;  // each FabricEndpoint has the same
  RunResult result_;
};

}  // namespace

RunResult run(const Plan& plan, uint64_t seed, recording::Writer* writer) {
  return Run(plan, seed, writer).go();
}

}  // namespace uet::sim
