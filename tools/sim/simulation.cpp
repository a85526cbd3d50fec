// The event loop: whoever has packets, a timer or something to post is run at that instant.
#include "tools/sim/simulation.h"

#include "tools/sim/wire_oracle.h"
#include "tools/sim/workload.h"

#include "fep/engine.h"
#include "fep/parameters.h"
#include "io/simnet.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace uet::sim {
namespace {

// Longer than any recovery with 200 ms RTOs and faults shorter than the patience limit.
constexpr Duration kLimit = Duration::seconds(300);
constexpr uint64_t kStepsMax = 20'000'000;

FabricAddress address_of(uint32_t index) {
  FabricAddress a;
  a.family = FabricAddress::Family::ipv4;
  a.ip = {10, 0, static_cast<uint8_t>(index >> 8), static_cast<uint8_t>(index + 1)};
  return a;
}

fep::Config config_of(const Plan& plan) {
  fep::Config c;
  if (plan.spec_timers) c.pds = pds::Config::spec();
  c.pds.tx_window_packets = plan.window_packets;
  c.pds.max_pdcs = plan.pdcs_max;
  c.pds.packets_per_entropy = 4;
  c.cms.entropy_values = plan.entropy_values;
  c.ses.payload_mtu = static_cast<uint16_t>(plan.payload_mtu);
  c.ses.unexpected_bytes = plan.unexpected_bytes;
  fep::settle(c);
  return c;
}

struct Node {
  std::unique_ptr<fep::Engine> engine;
  WireOracle* oracle = nullptr;
  uint32_t port = 0;
  Instant wake = kStart;  // when it must run although nothing arrives
  Instant paused_from = Instant::never();
  Instant paused_until = Instant::never();
};

class Run {
 public:
  Run(const Plan& plan, uint64_t seed) : plan_(plan), net_(seed ^ 0x6e6574), workload_(plan, seed) {
    net_.set_plan(plan.faults);
    net_.advance(kStart);
    Rng rng(seed, 0x6e6f6465);
    nodes_.resize(plan.endpoints);
    for (uint32_t i = 0; i < plan.endpoints; ++i) add_node(i, rng.u64());
    workload_.connect();
    if (plan.pause > Duration::zero()) {
      Node& node = nodes_[rng.below(plan.endpoints)];
      node.paused_from = kStart + Duration::microseconds(int64_t(rng.below(5'000)));
      node.paused_until = node.paused_from + plan.pause;
    }
  }

  RunResult go() {
    drive([this] { return workload_.finished(); });
    if (result_.violation.empty()) close();
    for (Node& node : nodes_) {
      result_.digest = result_.digest * 0x9E3779B97F4A7C15 + node.oracle->digest();
      result_.packets += node.oracle->packets();
      node.engine->fep().for_each_counter(
          [&](const char* name, uint64_t value) { result_.counters[name] += value; });
    }
    result_.simulated = now_ - kStart;
    return std::move(result_);
  }

 private:
  void add_node(uint32_t index, uint64_t seed) {
    Node& node = nodes_[index];
    auto port = net_.attach(address_of(index));
    node.port = port->index();
    auto oracle = std::make_unique<WireOracle>(std::move(port));
    node.oracle = oracle.get();
    auto fep = fep::FabricEndpoint::create(config_of(plan_), address_of(index), seed);
    UET_ASSERT(fep.ok());
    node.engine = std::make_unique<fep::Engine>(std::move(*fep), std::move(oracle));
    UET_ASSERT(workload_.open(index, node.engine->fep()));
  }

  // Runs until `done`, an oracle breaks, or the limit passes.
  template <class Done>
  void drive(Done done) {
    while (!done()) {
      if (!step()) return;
    }
  }

  bool step() {
    if (++steps_ > kStepsMax) return fail("no end in sight: too many steps");
    Instant next = net_.next_event();
    for (const Node& node : nodes_) next = std::min(next, node.wake);
    if (next.is_never())
      return fail("nothing will ever happen; waiting: " + workload_.unfinished());
    now_ = std::max(now_, next);
    if (now_ - kStart > kLimit) {
      return fail("not finished after " + std::to_string(kLimit.ms()) +
                  " ms; waiting: " + workload_.unfinished());
    }
    net_.advance(now_);
    for (uint32_t port = net_.take_touched(); port != io::SimNet::kNoPort;
         port = net_.take_touched()) {
      for (Node& node : nodes_) {
        if (node.port == port) node.wake = now_;
      }
    }
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].wake <= now_ && !visit(i)) return false;
    }
    return true;
  }

  bool visit(uint32_t index) {
    Node& node = nodes_[index];
    if (node.paused_from <= now_ && now_ < node.paused_until) {
      node.wake = node.paused_until;
      return true;
    }
    const Instant next_post = workload_.post_due(index, now_);
    const bool moved = node.engine->progress(now_);
    workload_.judge();
    if (!workload_.violation().empty()) return fail(workload_.violation());
    if (!node.oracle->violation().empty()) return fail(node.oracle->violation());
    node.wake = std::min(next_post, node.engine->next_deadline());
    if (moved || node.engine->fep().has_work()) {
      node.wake = std::min(node.wake, now_ + Duration::nanoseconds(200));
    }
    return true;
  }

  // After the work: every PDC closes in order and nothing is left in any pool.
  void close() {
    for (Node& node : nodes_) {
      node.engine->fep().pds().close_all(/*abort=*/false, now_);
      node.wake = now_;
    }
    drive([this] {
      return std::all_of(nodes_.begin(), nodes_.end(), [](Node& node) {
        return node.engine->fep().idle() && node.engine->fep().pds().open_pdcs() == 0;
      });
    });
  }

  bool fail(const std::string& what) {
    if (result_.violation.empty()) result_.violation = what;
    return false;
  }

  Plan plan_;
  io::SimNet net_;
  std::vector<Node> nodes_;
  Workload workload_;
  Instant now_ = kStart;
  uint64_t steps_ = 0;
  RunResult result_;
};

}  // namespace

RunResult run(const Plan& plan, uint64_t seed) { return Run(plan, seed).go(); }

}  // namespace uet::sim
