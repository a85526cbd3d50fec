// The sending side of one process: begins operations chosen by chance, one at a time until it is
// accepted, and follows each to its end.
#pragma once

#include "tools/stress/link.h"
#include "tools/stress/peer.h"
#include "tools/stress/tally.h"

#include <chrono>
#include <deque>
#include <unordered_set>

namespace uet::stress {

using Clock = std::chrono::steady_clock;

// An operation toward a peer, from the call on.
class Operation : public Pending {
 public:
  Operation(Count its_kind, PeerRef its_peer) : kind(its_kind), peer(std::move(its_peer)) {}
  // Calls libfabric; returns its result.
  virtual ssize_t post(fid_ep* ep) = 0;
  // The call was accepted.
  virtual void on_accepted() {}
  // It has ended well. Returns the next operation, or null; empty `defect`: no error.
  virtual std::unique_ptr<Operation> finish(std::string& defect) = 0;
  // It will not be posted, or has failed.
  virtual void give_up() {}
  virtual bool has_completion() const { return true; }
  virtual size_t bytes() const = 0;
  virtual std::string text() const = 0;
  void on_done(const Outcome& outcome) final;

  class Outbox* outbox = nullptr;
  Count kind;
  PeerRef peer;
  Clock::time_point begun = Clock::now();
  bool is_reported = false;
};

class Outbox {
 public:
  Outbox(const Options& options, Node& node, const Link& link, Tally& tally, uint32_t slot,
         uint32_t incarnation);
  ~Outbox();

  // Begins operations toward these peers while there is room; false: nothing could be done.
  bool step(const std::vector<PeerRef>& peers, Rng& rng);
  // Continues started operations, and begins none.
  void finish_begun();
  // Reads the area of a peer to know its contents.
  void learn(const PeerRef& peer);
  // Reads the areas of these peers once more, and compares.
  void read_back(const std::vector<PeerRef>& peers);
  bool is_idle() const { return outstanding_.empty() && waiting_.empty(); }
  size_t outstanding() const { return outstanding_.size(); }
  void report_slow(Clock::time_point now);
  void on_done(Operation& operation, const Outcome& outcome);

 private:
  std::unique_ptr<Operation> choose(const PeerRef& peer, Rng& rng) const;
  bool is_wanted(const char* kind) const;
  // Posts the first of waiting_; false: it must be tried again later.
  bool post_first();
  void fail(Operation& operation, int code, const std::string& text);

  const Options& options_;
  Node& node_;
  const Link& link_;
  Tally& tally_;
  const uint32_t slot_;
  const uint32_t incarnation_;
  std::unordered_set<Operation*> outstanding_;
  std::deque<std::unique_ptr<Operation>> waiting_;  // not yet accepted
  size_t octets_ = 0;                               // of outstanding operations
};

}  // namespace uet::stress
