// uet_sim traffic: writes a generated workload as a connection matrix.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

namespace uet::tools {

// Adds the command; the result runs it after the command line was parsed, and returns the exit
// status: 0 when it was written, 1 when it could not be, 2 when the workload is unknown.
std::function<int()> add_traffic(CLI::App& app);

}  // namespace uet::tools
