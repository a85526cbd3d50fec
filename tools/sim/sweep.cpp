// Finding and starting uet_sim_sweep.
#include "tools/sim/sweep.h"

#include "tools/common/command_line.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace uet::tools {

void add_sweep(CLI::App& app) {
  app.add_subcommand("sweep", "Run many points: seeds, and values of options (uet_sim_sweep)")
      ->prefix_command();
}

bool is_sweep(int argc, char** argv) { return argc > 1 && std::string_view(argv[1]) == "sweep"; }

int run_sweep(const CLI::App& app, char** argv) {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  std::string beside = (own.parent_path() / "uet_sim_sweep").string();
  argv[1] = beside.data();
  ::execv(beside.c_str(), argv + 1);
  ::execvp("uet_sim_sweep", argv + 1);
  return misuse(app, "uet_sim_sweep is neither " + beside + " nor on the PATH");
}

}  // namespace uet::tools
