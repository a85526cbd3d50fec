// Starts the processes of a run, stops, ends and restarts them by chance, and judges what they
// report: an operation may fail only toward a process that has ended.
#pragma once

#include "tools/stress/link.h"
#include "tools/stress/options.h"
#include "tools/stress/tally.h"

#include <sys/types.h>

#include <chrono>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace uet::stress {

// The result of a run.
struct Verdict {
  std::string outcome;  // "passed", "failed" or "interrupted"
  double seconds = 0;
  Tally tally{};
  uint64_t killed = 0;
  uint64_t left = 0;
  uint64_t exited = 0;
  uint64_t stopped = 0;
  uint64_t failures_expected = 0;  // toward processes that had ended
  uint64_t receives_failed = 0;    // messages whose sender may have ended
  std::vector<std::string> defects;
};

class Director {
 public:
  explicit Director(const Options& options);
  ~Director();
  Director(const Director&) = delete;
  Director& operator=(const Director&) = delete;

  Verdict run();

 private:
  using Clock = std::chrono::steady_clock;
  enum class State : uint8_t {
    absent,
    starting,
    working,
    idle,      // has sent its last message
    compared,  // has received all of them
    closed,
  };
  struct Process {
    State state = State::absent;
    pid_t pid = -1;
    int fd = -1;
    uint32_t incarnation = 0;
    uint64_t serial = 0;     // in the order of all starts
    bool is_ending = false;  // asked to end, or killed
    Clock::time_point stopped_until{};
    Clock::time_point start_at{};
    Clock::time_point heard{};
    Clock::time_point began{};
    std::vector<Clock::time_point> orphans;  // when it reported the failure of an injected message
    std::string introduction;                // "peer SLOT ..."
    Tally tally{};

    // Lets it run again after a stop.
    void resume();
  };

  void start(uint32_t slot);
  void loop_until(Clock::time_point end, State wanted);
  bool all_are(State state) const;
  void listen(int timeout_ms);
  void hear(uint32_t slot, const std::string& line);
  void on_hello(uint32_t slot, std::istringstream& words);
  void on_failed(uint32_t slot, std::istringstream& words);
  void on_sent(uint32_t slot, std::istringstream& words);
  void reap();
  void on_end(uint32_t slot, int status);
  void harass(Clock::time_point now);
  void end_one(uint32_t slot);
  void stop_one(uint32_t slot, Clock::time_point now);
  void watch(Clock::time_point now);
  void finish();
  void phase(State wanted, const char* command, const char* name);
  void tell_all(const std::string& line);
  void end_all();
  bool is_stale(uint32_t slot, uint32_t to, Clock::time_point when) const;
  uint32_t excused(uint32_t slot, uint32_t to) const;
  void say(uint32_t slot, const std::string& what) const;
  void defect(uint32_t slot, const std::string& what);
  void progress(Clock::time_point now);
  Tally total() const;

  const Options& options_;
  Rng rng_;
  std::vector<Process> processes_;
  std::set<std::pair<uint32_t, uint32_t>> gone_;  // slot and incarnation
  std::map<uint32_t, std::vector<std::string>> expectations_;
  Tally past_{};  // of processes that have ended
  Verdict verdict_;
  Clock::time_point began_;
  Clock::time_point next_kill_, next_stop_, next_line_;
  uint64_t starts_ = 0;
};

}  // namespace uet::stress
