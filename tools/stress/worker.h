// One process of a run: sends to its peers, checks arriving messages, is slow at times, and obeys
// the director.
#pragma once

#include "tools/stress/inbox.h"
#include "tools/stress/outbox.h"
#include "tools/stress/peers.h"

#include <optional>
#include <sstream>
#include <thread>

namespace uet::stress {

class Worker {
 public:
  Worker(const Options& options, const Link& link, uint32_t slot, uint32_t incarnation);

  // Until the director lets it go; the exit status.
  int run();

 private:
  enum class Phase : uint8_t {
    running,
    ending,     // nothing new; started operations end
    reading,    // the areas are read back
    comparing,  // for the last messages
    comparing_done,
    closing,
  };
  // The identity of this process, and the values that follow from it.
  struct Identity {
    uint32_t slot;
    uint32_t incarnation;
    Traits traits;
    Layout layout;
  };
  // How far the run is, as the director says.
  struct Progress {
    Phase phase = Phase::running;
    bool leaves = false;
    Clock::time_point compare_until{};
  };

  void turn();
  void obey(const std::string& line);
  void meet(std::istringstream& words);
  void retire(uint32_t slot);
  void advance();
  void tell_sent();
  void be_slow();
  void every_second();
  void on_orphan(const Outcome& outcome);
  std::string counts() const;
  void close();

  const Options& options_;
  const Link& link_;
  const Identity self_;
  Rng rng_;
  Tally tally_{};
  std::vector<uint8_t> region_;
  Node node_;
  Inbox inbox_;
  Outbox outbox_;
  Peers peers_;
  Progress progress_;
  Clock::time_point second_{};
  Clock::time_point withhold_until_{};
};

}  // namespace uet::stress
