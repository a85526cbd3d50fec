// The result of uet_sim run: a summary for people, and JSON.
#pragma once

#include "sim/fabric/run.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <string>

namespace uet::tools {

// The topology and the flows, in the words of the command line; two of the last three are empty.
struct AskedFor {
  std::string topology = "fattree:8";
  std::string matrix, workload, plan;
};

inline double us(sim::fabric::Picoseconds time) { return static_cast<double>(time) * 1e-6; }

// `seconds`: how long the run took.
void print_summary(std::FILE* out, const sim::fabric::RunPlan& plan,
                   const sim::fabric::RunResult& result, double seconds);
nlohmann::json json_of_run(const AskedFor& asked, const sim::fabric::RunPlan& plan,
                           const sim::fabric::RunResult& result);

}  // namespace uet::tools
