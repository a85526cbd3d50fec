// Datagrams beside the other operations of a run, over UUD, with its weaker promise: each completes
// at its sender once, when it has left; an arrived one equals a sent one, whole, for that end and
// from that sender, and arrives twice only if the network duplicates it. [PDS-211]
#pragma once

#include "sim/address_book.h"
#include "sim/agenda.h"
#include "sim/local_clock.h"
#include "sim/plan.h"

#include "sim/recording/endpoint.h"

#include "base/rng.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace uet::sim {

class Datagrams {
 public:
  Datagrams(const Plan& plan, uint64_t seed);
  ~Datagrams();

  // Opens the datagram endpoint of that host; `others` outlives this. False: that failed.
  bool open(uint32_t index, recording::Endpoint& fep, AddressBook& others, LocalClock clock);
  // The host died: its posts have vanished.
  void lose(uint32_t index, bool for_good);

  // Posts due datagrams; returns when the next post is due (never() when all are posted).
  Instant post_due(uint32_t index, Instant now);
  // Something is to be posted by now.
  bool has_due(uint32_t index, Instant now) const;
  bool finished() const { return unfinished_ == 0; }
  // The first broken promise, or empty.
  const std::string& violation() const { return violation_; }

 private:
  struct Host;
  struct Datagram;
  struct Receive;
  static void on_completion(void* owner, const ses::Completion& completion);
  void enlist(uint32_t index);
  bool post(Datagram& datagram, Instant now);
  bool post(Receive& receive, Instant now);
  void judge_sent(Datagram& datagram, const ses::Completion& c);
  void judge_received(const Receive& receive, const ses::Completion& c);
  void fail(const char* what, uint64_t id);

  Plan plan_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<Datagram> datagrams_;  // index = id - 1
  std::vector<Receive> receives_;    // likewise
  size_t unfinished_ = 0;            // datagrams
  std::string violation_;
};

}  // namespace uet::sim
