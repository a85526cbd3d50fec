// The answers of uet_sim plan, as records; and as text for people and JSON.
#pragma once

#include "sim/training/step_cost.h"
#include "sim/training/training.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace uet::tools {

// GPUs, time and work: two are given, the third follows. Without GPUs and time only their product.
struct SizingAnswer {
  double flop = 0;
  std::string from;  // "given", or how it was estimated
  double tflops = 0;
  double utilisation = 0;
  std::optional<double> gpus, seconds;
  bool is_gpus_given = false;
};

struct StepAnswer {
  sim::Training training;
  sim::RankMemory memory;
  sim::StepBytes bytes;
  sim::StepTime time;
  std::optional<double> tokens;  // of the whole training

  double utilisation() const;  // of the peak, by the work that the model needs (MFU)
};

struct AllReduceAnswer {
  double bytes = 0;
  uint32_t ranks = 0;
  uint32_t chunks = 0;
  sim::Cluster cluster;
  // Seconds. The first three on NICs alone, the last within nodes first.
  double ring = 0, tree = 0, halving = 0, levels = 0;
};

struct PlanAnswers {
  std::optional<SizingAnswer> sizing;
  std::optional<StepAnswer> step;
  std::optional<AllReduceAnswer> all_reduce;
};

std::string text_of(const PlanAnswers& answers);
nlohmann::json json_of(const PlanAnswers& answers);

}  // namespace uet::tools
