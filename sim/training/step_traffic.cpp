// Builds the tasks of a step: stage by stage in the order of 1F1B, each pass for all ranks of its
// stage at once.
#include "sim/training/step_traffic.h"

#include "sim/traffic/collectives.h"
#include "sim/training/collective_time.h"
#include "sim/training/step_cost.h"

#include "base/assert.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace uet::sim {

namespace {

constexpr size_t kTasksMax = size_t{1} << 27;

Duration duration(double seconds) { return Duration::nanoseconds(std::llround(seconds * 1e9)); }

void append(Tasks& to, const Tasks& tasks) { to.insert(to.end(), tasks.begin(), tasks.end()); }

// The graph of a step, and collectives on the two levels of the cluster. `Ends` are by rank.
class Levelled {
 public:
  explicit Levelled(const Training& t)
      : t_(t),
        graph_(t.ranks(),
               {t.cluster.gpus_per_node, t.cluster.scale_up_gbps, t.cluster.scale_up_latency}) {}

  TaskGraph& graph() { return graph_; }

  // The `count` ranks from `first` on do it `times` times in their groups. Each begins after its
  // tasks in `ends`, which are replaced by one task: that it has its result.
  void run(const Use& use, double times, uint32_t first, uint32_t count, Ends& ends) {
    Use all = use;
    all.bytes *= times;
    for (uint32_t rank = first; rank < first + count; ++rank) {
      if (use.group.first(rank) != rank) continue;
      const std::vector<uint32_t> members = use.group.members(rank);
      const Layout layout = layout_of(members, t_.cluster.gpus_per_node);
      if (layout.nodes == 1) {
        together(members, seconds_of(use, members, t_.cluster) * times, ends);
      } else if (use.kind == CollectiveKind::all_to_all) {
        exchange(all, members, ends);
      } else if (layout.has_levels) {
        on_levels(all, members, layout, times, ends);
      } else {
        ring(use.kind, members, all.bytes, ends);
      }
      for (const uint32_t member : members) join(member, ends);
    }
    if (graph_.tasks().size() > kTasksMax) throw TrafficError("the step has more than 2^27 tasks");
  }

  // One task in place of several.
  void join(uint32_t rank, Ends& ends) {
    if (ends[rank].size() > 1) {
      ends[rank] = {graph_.pause(rank, Duration::zero(), ends[rank])};
    }
  }

 private:
  // All wait for each other, and then for the time.
  void together(const std::vector<uint32_t>& members, double seconds, Ends& ends) {
    Tasks all;
    for (const uint32_t member : members) append(all, ends[member]);
    for (const uint32_t member : members) {
      ends[member] = {graph_.pause(member, duration(seconds), all)};
    }
  }

  void ring(CollectiveKind kind, const std::vector<uint32_t>& members, double bytes, Ends& ends) {
    const auto whole =
        std::max<uint64_t>(static_cast<uint64_t>(std::llround(bytes)), members.size());
    Collective c{graph_, members, whole};
    for (const uint32_t member : members) c.after.push_back(ends[member]);
    const Ends after = kind == CollectiveKind::all_reduce   ? ring_all_reduce(c)
                       : kind == CollectiveKind::all_gather ? ring_all_gather(c)
                                                            : ring_reduce_scatter(c);
    for (size_t i = 0; i < members.size(); ++i) ends[members[i]] = after[i];
  }

  // Scatters in the nodes, then each rail, then gathers in the nodes; a half of that for a half.
  void on_levels(const Use& use, const std::vector<uint32_t>& members, const Layout& layout,
                 double times, Ends& ends) {
    const uint32_t q = layout.per_node;
    const Link scale_up{t_.cluster.scale_up_gbps, t_.cluster.scale_up_latency};
    const double near = times * ring_half_seconds(use.bytes / times, q, scale_up);
    const auto in_nodes = [&] {
      if (q == 1) return;
      for (auto node = members.begin(); node != members.end(); node += q) {
        together({node, node + q}, near, ends);
      }
    };
    if (use.kind != CollectiveKind::all_gather) in_nodes();
    for (uint32_t place = 0; place < q; ++place) {
      std::vector<uint32_t> rail;
      for (size_t i = place; i < members.size(); i += q) rail.push_back(members[i]);
      ring(use.kind, rail, use.bytes / q, ends);
      for (const uint32_t member : rail) join(member, ends);
    }
    if (use.kind != CollectiveKind::reduce_scatter) in_nodes();
  }

  // All to all; a rank that has received everything continues.
  void exchange(const Use& use, const std::vector<uint32_t>& members, Ends& ends) {
    const auto n = static_cast<uint32_t>(members.size());
    const auto bytes = std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(use.bytes / n)));
    Ends received = ends;
    for (uint32_t step = 1; step < n; ++step) {
      for (uint32_t i = 0; i < n; ++i) {
        const uint32_t from = members[i], to = members[(i + step) % n];
        received[to].push_back(graph_.send(from, to, bytes, ends[from]));
      }
    }
    ends = std::move(received);
  }

  const Training& t_;
  TaskGraph graph_;
};

class Step {
 public:
  explicit Step(const Training& t)
      : t_(t),
        groups_(groups_of(t.parallelism)),
        uses_(uses_of(t)),
        levelled_(t),
        last_(t.ranks()),
        before_(t.ranks()),
        reduced_(t.ranks()),
        inputs_(2) {
    for (auto& inputs : inputs_) inputs.resize(size_t{t.ranks()} * t.parallelism.micro_batches);
  }

  Traffic traffic() {
    if (t_.parallelism.gathers_once) gather_once();
    run_passes();
    reduce();
    return levelled_.graph().traffic();
  }

 private:
  struct Pass {
    bool is_forward;
    uint32_t batch;
  };
  uint32_t batches() const { return t_.parallelism.micro_batches; }
  uint32_t in_stage() const { return groups_.stages.stride; }

  // Data that must have come from the neighbour before the pass; none for the ends of the pipeline.
  std::optional<uint32_t>& input(const Pass& pass, uint32_t rank) {
    return inputs_[pass.is_forward ? 0 : 1][size_t{pass.batch} * t_.ranks() + rank];
  }

  // 1F1B: as many forward passes as there are stages behind, then one of each in turn.
  std::vector<Pass> passes_of(uint32_t stage) const {
    const uint32_t ahead = std::min(batches(), groups_.stages.count - stage - 1);
    std::vector<Pass> out;
    for (uint32_t b = 0; b < ahead; ++b) out.push_back({true, b});
    for (uint32_t b = 0; b + ahead < batches(); ++b) {
      out.push_back({true, b + ahead});
      out.push_back({false, b});
    }
    for (uint32_t b = batches() - ahead; b < batches(); ++b) out.push_back({false, b});
    return out;
  }

  void run_passes() {
    const uint32_t stages = groups_.stages.count;
    std::vector<std::vector<Pass>> passes;
    for (uint32_t stage = 0; stage < stages; ++stage) passes.push_back(passes_of(stage));
    std::vector<size_t> next(stages);
    size_t left = size_t{2} * batches() * stages;
    while (left > 0) {
      const size_t before = left;
      for (uint32_t stage = 0; stage < stages; ++stage) {
        while (next[stage] < passes[stage].size() && has_input(stage, passes[stage][next[stage]])) {
          run(stage, passes[stage][next[stage]++]);
          --left;
        }
      }
      UET_ASSERT(left < before);
    }
  }

  bool has_input(uint32_t stage, const Pass& pass) {
    const bool is_first = pass.is_forward ? stage == 0 : stage + 1 == groups_.stages.count;
    return is_first || input(pass, stage * in_stage()).has_value();
  }

  void run(uint32_t stage, const Pass& pass) {
    const uint32_t first = stage * in_stage();
    Ends ends = before_;
    for (uint32_t r = first; r < first + in_stage(); ++r) before_[r] = last_[r];
    gather(pass, first, ends);
    for (uint32_t r = first; r < first + in_stage(); ++r) {
      append(ends[r], last_[r]);
      if (input(pass, r)) ends[r].push_back(*input(pass, r));
    }
    compute(pass, first, ends);
    exchange(pass, first, ends);
    pass_on(stage, pass, ends);
    for (uint32_t r = first; r < first + in_stage(); ++r) last_[r] = ends[r];
    if (!pass.is_forward) scatter(first);
  }

  void run_all(Cause cause, CollectiveKind kind, double (*times)(const Use&, bool), bool is_forward,
               uint32_t first, Ends& ends) {
    for (const Use& use : uses_) {
      const double n = times(use, is_forward);
      if (use.cause != cause || use.kind != kind || n == 0) continue;
      levelled_.run(use, n, first, in_stage(), ends);
    }
  }
  static double in_pass(const Use& use, bool is_forward) {
    return is_forward ? use.forward : use.backward;
  }
  static double in_step(const Use& use, bool) { return use.once; }

  // While the pass before is computed.
  void gather(const Pass& pass, uint32_t first, Ends& ends) {
    levelled_.graph().set_kind("fsdp");
    run_all(Cause::fsdp, CollectiveKind::all_gather, in_pass, pass.is_forward, first, ends);
  }

  void gather_once() {
    levelled_.graph().set_kind("fsdp");
    for (uint32_t first = 0; first < t_.ranks(); first += in_stage()) {
      run_all(Cause::fsdp, CollectiveKind::all_gather, in_step, true, first, last_);
    }
  }

  // All parts of a layer compute in step; their sums within a node take time, too.
  void compute(const Pass& pass, uint32_t first, Ends& ends) {
    TaskGraph& graph = levelled_.graph();
    graph.set_kind("compute");
    const bool is_full = t_.parallelism.recompute == Recompute::full;
    const double work = t_.forward_flop() * (pass.is_forward ? 1 : is_full ? 3 : 2);
    const double seconds = work / (t_.cluster.gpu_tflops * 1e12 * t_.cluster.efficiency);
    for (uint32_t rank = first; rank < first + in_stage(); rank += groups_.tp.count) {
      Tasks all;
      for (uint32_t i = 0; i < groups_.tp.count; ++i) append(all, ends[rank + i]);
      for (uint32_t i = 0; i < groups_.tp.count; ++i) {
        ends[rank + i] = {graph.pause(rank + i, duration(seconds), all)};
      }
    }
    graph.set_kind("tp");
    run_all(Cause::tp, CollectiveKind::all_reduce, in_pass, pass.is_forward, first, ends);
  }

  // Half of the exchanges go to the experts and half come back.
  void exchange(const Pass& pass, uint32_t first, Ends& ends) {
    levelled_.graph().set_kind("ep");
    for (int direction = 0; direction < 2; ++direction) {
      run_all(
          Cause::ep, CollectiveKind::all_to_all,
          [](const Use& use, bool is_forward) { return in_pass(use, is_forward) / 2; },
          pass.is_forward, first, ends);
    }
  }

  void pass_on(uint32_t stage, const Pass& pass, const Ends& ends) {
    const bool is_last = pass.is_forward ? stage + 1 == groups_.stages.count : stage == 0;
    if (is_last) return;
    TaskGraph& graph = levelled_.graph();
    graph.set_kind("pp");
    const auto bytes = std::max<uint64_t>(
        1, static_cast<uint64_t>(std::llround(t_.activation_bytes() / t_.parallelism.tp)));
    for (uint32_t r = stage * in_stage(); r < (stage + 1) * in_stage(); ++r) {
      const uint32_t to = pass.is_forward ? r + in_stage() : r - in_stage();
      input(pass, to) = graph.send(r, to, bytes, ends[r]);
    }
  }

  // Beside the passes that follow.
  void scatter(uint32_t first) {
    const bool in_each_pass = t_.parallelism.fsdp > 1 && !t_.parallelism.gathers_once;
    for (uint32_t r = first; r < first + in_stage(); ++r) {
      if (!in_each_pass) reduced_[r].clear();
      append(reduced_[r], last_[r]);
    }
    levelled_.graph().set_kind("fsdp");
    run_all(Cause::fsdp, CollectiveKind::reduce_scatter, in_pass, false, first, reduced_);
  }

  void reduce() {
    for (uint32_t first = 0; first < t_.ranks(); first += in_stage()) {
      levelled_.graph().set_kind("fsdp");
      run_all(Cause::fsdp, CollectiveKind::reduce_scatter, in_step, false, first, reduced_);
      levelled_.graph().set_kind("dp");
      run_all(Cause::dp, CollectiveKind::all_reduce, in_step, false, first, reduced_);
    }
  }

  const Training& t_;
  const Groups groups_;
  const std::vector<Use> uses_;
  Levelled levelled_;
  Ends last_, before_;  // of each rank: the end of its last pass, and of the one before
  Ends reduced_;        // its gradients are scattered so far
  std::vector<std::vector<std::optional<uint32_t>>> inputs_;
};

}  // namespace

Traffic traffic_of_step(const Training& training) { return Step(training).traffic(); }

}  // namespace uet::sim
