// The commands of uet_ctl, and the options that several of them have.
#pragma once

#include <sys/types.h>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace uet::tools {

struct Command {
  CLI::App* app;
  std::function<int()> run;  // returns the exit status
};
Command add_contexts(CLI::App& app);
Command add_record(CLI::App& app);
Command add_plot(CLI::App& app);

// PID...: only of these processes; none: of all.
void add_pids(CLI::App& command, std::vector<pid_t>& pids);

// --watch and --count: repeats a round at an interval.
class Rounds {
 public:
  void add_to(CLI::App& command, const std::string& help);
  bool is_watch() const { return watch_s_ > 0; }
  // Calls `round` --count times, or until it returns kNothing. Returns the worst exit status.
  int run(const std::function<int()>& round) const;

 private:
  double watch_s_ = 0;
  uint64_t count_ = 0;  // 0: until interrupted
};

}  // namespace uet::tools
