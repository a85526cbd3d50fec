// uet_sim plan: how many GPUs, how much memory, how many bytes, how long.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

namespace uet::tools {

// Adds the command; the result runs it after the command line was parsed, and returns the exit
// status: 0 with an answer, 2 when the question cannot be answered.
std::function<int()> add_plan(CLI::App& app);

}  // namespace uet::tools
