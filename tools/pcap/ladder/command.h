// `uet_pcap ladder`: its options, its input and output, and its errors.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

namespace uet::tools::ladder {

// Adds the command to the program. The function carries it out once it has been parsed, and
// returns the exit status: 0 done, 1 the input or output is at fault, 2 bad usage.
std::function<int()> add_command(CLI::App& app);

}  // namespace uet::tools::ladder
