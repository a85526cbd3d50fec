// uet_sim sweep: the same as the program uet_sim_sweep.
#pragma once

#include <CLI/CLI.hpp>

namespace uet::tools {

// Adds the command, so that --help lists it.
void add_sweep(CLI::App& app);

// Whether the command line has that command; its words are for uet_sim_sweep.
bool is_sweep(int argc, char** argv);

// Becomes uet_sim_sweep. Returns, with the exit status, only if there is none.
int run_sweep(const CLI::App& app, char** argv);

}  // namespace uet::tools
