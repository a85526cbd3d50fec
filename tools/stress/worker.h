// One process of a run: sends to its peers, checks what comes, is slow at times, and does what the
// director says.
#pragma once

#include "tools/stress/inbox.h"
#include "tools/stress/outbox.h"

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
    ending,     // nothing new; what is begun ends
    reading,    // the areas are read back
    comparing,  // for the last messages
    comparing_done,
    closing,
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
  const uint32_t slot_;
  const uint32_t incarnation_;
  const Traits traits_;
  const Layout layout_;
  Rng rng_;
  Tally tally_{};
  std::vector<uint8_t> region_;
  Node node_;
  Inbox inbox_;
  Outbox outbox_;
  std::vector<PeerRef> peers_;
  std::vector<PeerRef> retired_;  // until their last operation ends
  Phase phase_ = Phase::running;
  bool leaves_ = false;
  Clock::time_point second_{};
  Clock::time_point withhold_until_{};
  Clock::time_point compare_until_{};
};

}  // namespace uet::stress
