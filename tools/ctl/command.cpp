// Options of several commands.
#include "tools/ctl/command.h"

#include "tools/common/command_line.h"
#include "tools/ctl/look.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

namespace uet::tools {

void add_pids(CLI::App& command, std::vector<pid_t>& pids) {
  command.add_option("PID", pids, "Only of these processes")->check(CLI::Range(1, 1 << 30));
}

void Rounds::add_to(CLI::App& command, const std::string& help) {
  CLI::Option* const watch =
      command.add_option("--watch", watch_s_, help)->check(number_between(0.01, 86400.0));
  command.add_option("--count", count_, "Stop after N times")
      ->needs(watch)
      ->check(CLI::Range(1, 1'000'000'000));
}

int Rounds::run(const std::function<int()>& round) const {
  int status = kGood;
  for (uint64_t done = 1;; ++done) {
    const int now = round();
    if (now == kNothing) return now;
    status = std::max(status, now);
    std::fflush(stdout);
    if (!is_watch() || done == count_) return status;
    std::this_thread::sleep_for(std::chrono::duration<double>(watch_s_));
  }
}

}  // namespace uet::tools
