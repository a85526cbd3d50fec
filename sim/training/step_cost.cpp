// Collectives of a step, their bytes and their time.
#include "sim/training/step_cost.h"

#include "sim/training/collective_time.h"

#include <algorithm>
#include <map>

namespace uet::sim {

namespace {

void add_shards(std::vector<Use>& uses, const Training& t, const Group& fsdp, const Group& dp,
                double parameters) {
  const Model& m = t.model;
  const double per_batch = t.parallelism.gathers_once ? 0 : 1;
  const double once = 1 - per_batch;
  uses.push_back({.cause = Cause::fsdp,
                  .kind = CollectiveKind::all_gather,
                  .group = fsdp,
                  .bytes = parameters * m.weight_bytes,
                  .forward = per_batch,
                  .backward = per_batch,
                  .once = once});
  uses.push_back({.cause = Cause::fsdp,
                  .kind = CollectiveKind::reduce_scatter,
                  .group = fsdp,
                  .bytes = parameters * m.gradient_bytes,
                  .backward = per_batch,
                  .once = once});
  uses.push_back({.cause = Cause::dp,
                  .kind = CollectiveKind::all_reduce,
                  .group = dp,
                  .bytes = parameters * m.gradient_bytes / fsdp.count,
                  .once = 1});
}

Level level_of(uint32_t a, uint32_t b, uint32_t gpus_per_node) {
  if (a / gpus_per_node == b / gpus_per_node) return Level::scale_up;
  return a % gpus_per_node == b % gpus_per_node ? Level::same_rail : Level::cross_rail;
}

double& at(Levels& levels, Level level) { return levels[static_cast<size_t>(level)]; }

// A ring sends its vector this often, less one part.
double turns_of(CollectiveKind kind) { return kind == CollectiveKind::all_reduce ? 2 : 1; }

}  // namespace

std::vector<Use> uses_of(const Training& t) {
  const Parallelism& p = t.parallelism;
  const Groups groups = groups_of(p);
  // Twice in each layer, and again where the forward pass is computed again.
  const double forward = 2.0 * t.model.layers / p.pp;
  const double backward = p.recompute == Recompute::full ? 2 * forward : forward;
  std::vector<Use> uses;
  uses.push_back({.cause = Cause::tp,
                  .kind = CollectiveKind::all_reduce,
                  .group = groups.tp,
                  .bytes = t.activation_bytes(),
                  .forward = forward,
                  .backward = backward});
  if (t.model.experts > 0) {  // to the experts and back
    uses.push_back({.cause = Cause::ep,
                    .kind = CollectiveKind::all_to_all,
                    .group = groups.ep,
                    .bytes = t.activation_bytes() / p.tp * t.model.experts_per_token,
                    .forward = forward,
                    .backward = backward});
    add_shards(uses, t, groups.expert_fsdp, groups.expert_dp, t.expert_parameters_of_rank());
  }
  if (t.dense_parameters_of_rank() > 0) {
    add_shards(uses, t, groups.fsdp, groups.dp, t.dense_parameters_of_rank());
  }
  std::erase_if(uses, [](const Use& use) { return use.group.count == 1; });
  return uses;
}

Layout layout_of(std::span<const uint32_t> members, uint32_t gpus_per_node) {
  std::map<uint32_t, std::vector<uint32_t>> places;  // of the members, by node
  for (const uint32_t rank : members) places[rank / gpus_per_node].push_back(rank % gpus_per_node);
  Layout layout;
  layout.nodes = static_cast<uint32_t>(places.size());
  layout.per_node = static_cast<uint32_t>(places.begin()->second.size());
  for (const auto& [node, there] : places) layout.has_levels &= there == places.begin()->second;
  return layout;
}

Levels bytes_of(const Use& use, std::span<const uint32_t> members, const Layout& layout,
                uint32_t index, uint32_t gpus_per_node) {
  Levels out{};
  const auto n = static_cast<uint32_t>(members.size());
  if (use.kind == CollectiveKind::all_to_all) {
    for (const uint32_t to : members) {
      if (to != members[index])
        at(out, level_of(members[index], to, gpus_per_node)) += use.bytes / n;
    }
    return out;
  }
  const double turns = turns_of(use.kind);
  if (!layout.has_levels) {
    at(out, level_of(members[index], members[(index + 1) % n], gpus_per_node)) =
        turns * use.bytes * (n - 1) / n;
    return out;
  }
  const double q = layout.per_node, k = layout.nodes;
  at(out, Level::scale_up) = turns * use.bytes * (q - 1) / q;
  at(out, Level::same_rail) = turns * use.bytes / q * (k - 1) / k;
  return out;
}

double seconds_of(const Use& use, std::span<const uint32_t> members, const Cluster& cluster) {
  const Link scale_up{cluster.scale_up_gbps, cluster.scale_up_latency};
  const Link rail{cluster.link_gbps, cluster.link_latency};
  const auto n = static_cast<uint32_t>(members.size());
  const Layout layout = layout_of(members, cluster.gpus_per_node);
  if (use.kind == CollectiveKind::all_to_all) {
    const Levels bytes = bytes_of(use, members, layout, 0, cluster.gpus_per_node);
    const double fabric = bytes[1] + bytes[2];
    return std::max(bytes[0] > 0 ? scale_up.seconds(bytes[0]) : 0,
                    fabric > 0 ? rail.seconds(fabric) : 0);
  }
  const double turns = turns_of(use.kind);
  if (!layout.has_levels) return turns * ring_half_seconds(use.bytes, n, rail);
  return turns * (ring_half_seconds(use.bytes, layout.per_node, scale_up) +
                  ring_half_seconds(use.bytes / layout.per_node, layout.nodes, rail));
}

double StepBytes::fabric() const {
  double sum = 0;
  for (const Levels& levels : mean) sum += levels[1] + levels[2];
  return sum;
}

double StepBytes::rail_share() const {
  double on_rail = 0;
  for (const Levels& levels : mean) on_rail += levels[1];
  return fabric() > 0 ? on_rail / fabric() : 1;
}

namespace {

// The next and the previous stage of a rank, and the bytes to them in a step.
void add_pipeline(const Training& t, uint32_t rank, Levels& out) {
  const Group stages = groups_of(t.parallelism).stages;
  const uint32_t stage = rank / stages.stride;
  const double bytes = t.activation_bytes() / t.parallelism.tp * t.parallelism.micro_batches;
  const uint32_t gpus = t.cluster.gpus_per_node;
  if (stage + 1 < stages.count) at(out, level_of(rank, rank + stages.stride, gpus)) += bytes;
  if (stage > 0) at(out, level_of(rank, rank - stages.stride, gpus)) += bytes;
}

void count(StepBytes& out, Cause cause, const std::vector<Levels>& of_ranks) {
  const auto i = static_cast<size_t>(cause);
  for (const Levels& levels : of_ranks) {
    for (size_t level = 0; level < levels.size(); ++level) {
      out.mean[i][level] += levels[level] / static_cast<double>(of_ranks.size());
    }
    out.most[i] = std::max(out.most[i], levels[0] + levels[1] + levels[2]);
  }
}

}  // namespace

StepBytes bytes_of_step(const Training& t) {
  std::array<std::vector<Levels>, 5> sums;
  for (auto& of_cause : sums) of_cause.resize(t.ranks());
  for (const Use& use : uses_of(t)) {
    const double times = use.times(t.parallelism.micro_batches);
    for (uint32_t first = 0; first < t.ranks(); ++first) {
      if (use.group.first(first) != first) continue;
      const std::vector<uint32_t> members = use.group.members(first);
      const Layout layout = layout_of(members, t.cluster.gpus_per_node);
      for (uint32_t i = 0; i < members.size(); ++i) {
        const Levels bytes = bytes_of(use, members, layout, i, t.cluster.gpus_per_node);
        Levels& sum = sums[static_cast<size_t>(use.cause)][members[i]];
        for (size_t level = 0; level < sum.size(); ++level) sum[level] += times * bytes[level];
      }
    }
  }
  for (uint32_t rank = 0; rank < t.ranks(); ++rank) {
    add_pipeline(t, rank, sums[static_cast<size_t>(Cause::pp)][rank]);
  }
  StepBytes out;
  for (size_t cause = 0; cause < sums.size(); ++cause) {
    count(out, static_cast<Cause>(cause), sums[cause]);
  }
  return out;
}

StepTime time_of_step(const Training& t) {
  const Parallelism& p = t.parallelism;
  const double batches = p.micro_batches;
  const double compute = t.forward_flop() / (t.cluster.gpu_tflops * 1e12 * t.cluster.efficiency);
  StepTime time;
  double forward = compute;
  double backward = compute * (p.recompute == Recompute::full ? 3 : 2);
  time.compute = batches * (forward + backward);
  double fsdp_forward = 0, fsdp_backward = 0, fsdp_once = 0;
  for (const Use& use : uses_of(t)) {
    const double seconds = seconds_of(use, use.group.members(0), t.cluster);
    switch (use.cause) {
      case Cause::tp:
      case Cause::ep:
        forward += seconds * use.forward;
        backward += seconds * use.backward;
        (use.cause == Cause::tp ? time.tp : time.ep) +=
            batches * seconds * (use.forward + use.backward);
        break;
      case Cause::fsdp:
        fsdp_forward += seconds * use.forward;
        fsdp_backward += seconds * use.backward;
        fsdp_once += seconds * use.once;
        break;
      case Cause::dp:
        time.dp += seconds;
        break;
      case Cause::pp:
        break;
    }
  }
  const double slot = std::max(forward, fsdp_forward) + std::max(backward, fsdp_backward);
  // The first gathering and the last scattering have nothing beside them.
  time.fsdp = fsdp_forward + fsdp_backward / 2 + fsdp_once;
  time.fsdp +=
      batches * (std::max(0.0, fsdp_forward - forward) + std::max(0.0, fsdp_backward - backward));
  time.bubble = (p.pp - 1) * slot;
  if (p.pp > 1) {
    const uint32_t next = groups_of(p).stages.stride;
    const bool is_near = level_of(0, next, t.cluster.gpus_per_node) == Level::scale_up;
    const Link link = is_near ? Link{t.cluster.scale_up_gbps, t.cluster.scale_up_latency}
                              : Link{t.cluster.link_gbps, t.cluster.link_latency};
    time.transfers = 2 * (p.pp - 1) * link.seconds(t.activation_bytes() / p.tp);
  }
  return time;
}

}  // namespace uet::sim
