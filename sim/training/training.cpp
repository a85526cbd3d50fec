// Arithmetic about a training run.
#include "sim/training/training.h"

#include <algorithm>
#include <cmath>

namespace uet::sim {

double Model::active_parameters() const {
  if (experts == 0) return parameters;
  return parameters - expert_parameters * (1 - double{1} * experts_per_token / experts);
}

namespace {

struct Whole {
  const char* name;
  uint64_t value;
  uint64_t min, max;
};

std::string problem_of(const Whole& whole) {
  if (whole.value >= whole.min && whole.value <= whole.max) return {};
  return std::string(whole.name) + " is " + std::to_string(whole.min) + " to " +
         std::to_string(whole.max) + ", not " + std::to_string(whole.value);
}

std::string not_divided(const char* what, uint64_t value, const char* by, uint64_t divisor) {
  if (value % divisor == 0) return {};
  return std::string(by) + " = " + std::to_string(divisor) + " does not divide " + what + " = " +
         std::to_string(value);
}

std::string problem_of_experts(const Model& m, const Parallelism& p) {
  if (m.experts == 0) {
    if (m.expert_parameters > 0) return "expert_parameters needs experts";
    return p.ep == 1 ? "" : "ep needs experts";
  }
  if (m.experts_per_token < 1 || m.experts_per_token > m.experts) {
    return "experts_per_token is 1 to experts";
  }
  if (!(m.expert_parameters > 0 && m.expert_parameters <= m.parameters)) {
    return "expert_parameters is above 0 and at most parameters";
  }
  std::string what = not_divided("experts", m.experts, "ep", p.ep);
  if (what.empty()) what = not_divided("dp * fsdp", uint64_t{p.dp} * p.fsdp, "ep", p.ep);
  if (what.empty() && p.fsdp % p.ep != 0 && p.ep % p.fsdp != 0) {
    what = "one of ep and fsdp must divide the other";
  }
  return what;
}

}  // namespace

uint32_t Training::ranks() const {
  return parallelism.dp * parallelism.fsdp * parallelism.tp * parallelism.pp;
}

std::string Training::problem() const {
  const Model& m = model;
  const Parallelism& p = parallelism;
  constexpr uint64_t kMany = 1 << 20;
  const Whole wholes[] = {
      {"layers", m.layers, 1, kMany},
      {"hidden", m.hidden, 1, kMany},
      {"sequence", m.sequence, 1, 1 << 30},
      {"dp", p.dp, 1, kMany},
      {"fsdp", p.fsdp, 1, kMany},
      {"tp", p.tp, 1, kMany},
      {"pp", p.pp, 1, kMany},
      {"ep", p.ep, 1, kMany},
      {"micro_batches", p.micro_batches, 1, kMany},
      {"micro_batch", p.micro_batch, 1, kMany},
      {"gpus_per_node", cluster.gpus_per_node, 1, kMany},
  };
  for (const Whole& whole : wholes) {
    std::string what = problem_of(whole);
    if (!what.empty()) return what;
  }
  if (double{1} * p.dp * p.fsdp * p.tp * p.pp > kMany) {
    return "dp * fsdp * tp * pp is at most " + std::to_string(kMany);
  }
  const struct {
    const char* name;
    double value;
  } positive[] = {{"parameters", m.parameters},         {"weight_bytes", m.weight_bytes},
                  {"gradient_bytes", m.gradient_bytes}, {"scale_up", cluster.scale_up_gbps},
                  {"link", cluster.link_gbps},          {"gpu", cluster.gpu_tflops},
                  {"efficiency", cluster.efficiency}};
  for (const auto& [name, value] : positive) {
    if (!(value > 0)) return std::string(name) + " must be above 0";
  }
  if (cluster.efficiency > 1) return "efficiency is at most 1";
  if (p.recompute == Recompute::none && m.heads == 0) return "recompute = none needs heads";
  std::string what = not_divided("layers", m.layers, "pp", p.pp);
  if (what.empty()) what = not_divided("hidden", m.hidden, "tp", p.tp);
  return what.empty() ? problem_of_experts(m, p) : what;
}

double Training::dense_parameters_of_rank() const {
  return (model.parameters - model.expert_parameters) / parallelism.tp / parallelism.pp;
}

double Training::expert_parameters_of_rank() const {
  return model.expert_parameters / parallelism.tp / parallelism.pp / parallelism.ep;
}

// Two bytes for each number of a token's vector.
double Training::activation_bytes() const {
  return 2.0 * model.sequence * parallelism.micro_batch * model.hidden;
}

double Training::tokens_of_step() const {
  const Parallelism& p = parallelism;
  return double{1} * model.sequence * p.micro_batch * p.micro_batches * p.dp * p.fsdp;
}

double Training::forward_flop() const {
  const double tokens = double{1} * model.sequence * parallelism.micro_batch;
  return 2 * model.active_parameters() / parallelism.tp / parallelism.pp * tokens;
}

std::vector<uint32_t> Group::members(uint32_t rank) const {
  std::vector<uint32_t> out(count);
  for (uint32_t i = 0; i < count; ++i) out[i] = first(rank) + i * stride;
  return out;
}

Groups groups_of(const Parallelism& p) {
  const uint32_t expert_fsdp = std::max(1u, p.fsdp / p.ep);
  const uint32_t data = p.dp * p.fsdp;
  return {.tp = {1, p.tp},
          .ep = {p.tp, p.ep},
          .fsdp = {p.tp, p.fsdp},
          .dp = {p.tp * p.fsdp, p.dp},
          .expert_fsdp = {p.tp * p.ep, expert_fsdp},
          .expert_dp = {p.tp * p.ep * expert_fsdp, data / p.ep / expert_fsdp},
          .stages = {p.tp * data, p.pp}};
}

// Activations of a layer with two bytes for each number: 34 s b h, of which 19 are in the MLP, and
// 5 a s^2 b for scores of attention; with tensor and sequence parallelism each rank has a part.
// From Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models". With
// one forward and one backward in turn (1F1B), the first stage keeps as many micro-batches as there
// are stages.
RankMemory memory_of(const Training& t) {
  const Model& m = t.model;
  const Parallelism& p = t.parallelism;
  const Groups groups = groups_of(p);
  const double parameters = t.dense_parameters_of_rank() / groups.fsdp.count +
                            t.expert_parameters_of_rank() / groups.expert_fsdp.count;
  const uint32_t layers = m.layers / p.pp;
  const double numbers = double{1} * m.sequence * p.micro_batch * m.hidden / p.tp;
  const uint32_t mlps = m.experts == 0 ? 1 : m.experts_per_token;
  double layer = numbers * (15 + 19.0 * mlps);
  if (p.recompute == Recompute::none) layer += numbers * 5 * m.heads * m.sequence / m.hidden;
  const uint32_t in_flight = std::min(p.micro_batches, p.pp);
  RankMemory memory;
  memory.weights = parameters * m.weight_bytes;
  // Gradients that are scattered once in a step are added up whole until then.
  const double whole = t.dense_parameters_of_rank() + t.expert_parameters_of_rank();
  memory.gradients = (p.gathers_once ? whole : parameters) * m.gradient_bytes;
  memory.optimizer = parameters * m.optimizer_bytes;
  memory.activations = layer * layers * in_flight;
  if (p.recompute == Recompute::full) {
    memory.activations = 2 * numbers * layers * in_flight + layer;
  }
  if (p.fsdp > 1) {
    memory.gathered = whole * m.weight_bytes * (p.gathers_once ? 1.0 : std::min(1.0, 2.0 / layers));
  }
  return memory;
}

}  // namespace uet::sim
