// The table of keys.
#include "sim/training/training_file.h"

#include "sim/traffic/traffic.h"

#include <cmath>
#include <limits>

namespace uet::sim {

namespace {

template <auto kPart, auto kField, Unit kUnit>
void set_double(Training& t, std::string_view text) {
  (t.*kPart).*kField = parse_quantity(text, kUnit);
}

template <auto kPart, auto kField>
void set_whole(Training& t, std::string_view text) {
  const double value = parse_quantity(text, Unit::count);
  if (value != std::floor(value) || value > std::numeric_limits<uint32_t>::max()) {
    throw TrafficError("'" + std::string(text) + "' is not a whole number below 2^32");
  }
  (t.*kPart).*kField = static_cast<uint32_t>(value);
}

template <auto kPart, auto kField>
void set_time(Training& t, std::string_view text) {
  const double seconds = parse_quantity(text, Unit::time);
  if (seconds > 1e6) throw TrafficError("'" + std::string(text) + "' is too long");
  (t.*kPart).*kField = Duration::nanoseconds(std::llround(seconds * 1e9));
}

void set_recompute(Training& t, std::string_view text) {
  if (text == "none") {
    t.parallelism.recompute = Recompute::none;
  } else if (text == "selective") {
    t.parallelism.recompute = Recompute::selective;
  } else if (text == "full") {
    t.parallelism.recompute = Recompute::full;
  } else {
    throw TrafficError("'" + std::string(text) + "' is not none, selective or full");
  }
}

void set_gathers(Training& t, std::string_view text) {
  if (text != "micro-batch" && text != "step") {
    throw TrafficError("'" + std::string(text) + "' is not micro-batch or step");
  }
  t.parallelism.gathers_once = text == "step";
}

template <auto kField, Unit kUnit>
constexpr auto model = set_double<&Training::model, kField, kUnit>;
template <auto kField>
constexpr auto model_whole = set_whole<&Training::model, kField>;
template <auto kField>
constexpr auto spread = set_whole<&Training::parallelism, kField>;
template <auto kField, Unit kUnit>
constexpr auto cluster = set_double<&Training::cluster, kField, kUnit>;
template <auto kField>
constexpr auto cluster_time = set_time<&Training::cluster, kField>;

constexpr TrainingKey kKeys[] = {
    {"model", "parameters", "All parameters, such as 70B", model<&Model::parameters, Unit::count>},
    {"model", "expert_parameters", "Of these, all in experts (0)",
     model<&Model::expert_parameters, Unit::count>},
    {"model", "experts", "Experts of each layer (0)", model_whole<&Model::experts>},
    {"model", "experts_per_token", "Experts that a token passes (0)",
     model_whole<&Model::experts_per_token>},
    {"model", "layers", "Layers", model_whole<&Model::layers>},
    {"model", "hidden", "Numbers in the vector of a token", model_whole<&Model::hidden>},
    {"model", "sequence", "Tokens of a sequence", model_whole<&Model::sequence>},
    {"model", "heads", "Heads of attention, only for recompute none", model_whole<&Model::heads>},
    {"model", "weight_bytes", "Bytes of a weight (2)", model<&Model::weight_bytes, Unit::bytes>},
    {"model", "gradient_bytes", "Bytes of a gradient (2)",
     model<&Model::gradient_bytes, Unit::bytes>},
    {"model", "optimizer_bytes", "Bytes of the optimizer for a parameter (12)",
     model<&Model::optimizer_bytes, Unit::bytes>},
    {"parallelism", "dp", "Replicas (1)", spread<&Parallelism::dp>},
    {"parallelism", "fsdp", "Shards of weights and optimizer, each with its own data (1)",
     spread<&Parallelism::fsdp>},
    {"parallelism", "tp", "Parts of each layer (1)", spread<&Parallelism::tp>},
    {"parallelism", "pp", "Stages of the pipeline (1)", spread<&Parallelism::pp>},
    {"parallelism", "ep", "Ranks that share the experts of a layer (1)", spread<&Parallelism::ep>},
    {"parallelism", "micro_batches", "Micro-batches of a rank in a step (1)",
     spread<&Parallelism::micro_batches>},
    {"parallelism", "micro_batch", "Sequences of a micro-batch (1)",
     spread<&Parallelism::micro_batch>},
    {"parallelism", "recompute", "none, selective or full (selective)", set_recompute},
    {"parallelism", "gathers", "FSDP gathers weights for each micro-batch or step (micro-batch)",
     set_gathers},
    {"cluster", "gpus_per_node", "GPUs with links among themselves (8)",
     set_whole<&Training::cluster, &Cluster::gpus_per_node>},
    {"cluster", "scale_up", "Rate of these links of a GPU, one direction (3600Gbps)",
     cluster<&Cluster::scale_up_gbps, Unit::gbps>},
    {"cluster", "scale_up_latency", "Their latency (1us)",
     cluster_time<&Cluster::scale_up_latency>},
    {"cluster", "link", "Rate of the NIC of a GPU (400Gbps)",
     cluster<&Cluster::link_gbps, Unit::gbps>},
    {"cluster", "link_latency", "From host to host, with software (5us)",
     cluster_time<&Cluster::link_latency>},
    {"cluster", "gpu", "Peak speed of a GPU (989TFLOPS)",
     cluster<&Cluster::gpu_tflops, Unit::tflops>},
    {"cluster", "efficiency", "Share of it that computing reaches (50%)",
     cluster<&Cluster::efficiency, Unit::share>},
};

}  // namespace

std::span<const TrainingKey> training_keys() { return kKeys; }

}  // namespace uet::sim
