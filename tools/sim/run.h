// uet_sim run: traffic over a fabric of switches.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

namespace uet::tools {

// Adds the command; the result runs it after the command line was parsed, and returns the exit
// status: 0 when all flows have ended well, 1 when not, 2 when the request cannot be met.
std::function<int()> add_run(CLI::App& app);

}  // namespace uet::tools
