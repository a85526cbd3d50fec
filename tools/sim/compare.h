// uet_sim compare: differences between two results of uet_sim run.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

namespace uet::tools {

// Adds the command; the result runs it after the command line was parsed, and returns the exit
// status: 0 when the second result is at most as much worse as the limit allows, 1 when it is
// worse, 2 when a file is not a result.
std::function<int()> add_compare(CLI::App& app);

}  // namespace uet::tools
