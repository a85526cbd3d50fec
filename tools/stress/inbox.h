// The receiving side of one process: keeps receives posted, and checks each message against its
// name: length, octets, source, that it comes once, and in order where that is promised.
#pragma once

#include "tools/stress/ledger.h"
#include "tools/stress/link.h"
#include "tools/stress/peer.h"
#include "tools/stress/tally.h"

#include <map>
#include <unordered_set>

namespace uet::stress {

class Inbox {
 public:
  Inbox(const Options& options, const Traits& traits, Node& node, const Link& link, Tally& tally,
        uint32_t slot, uint32_t incarnation);
  ~Inbox();

  // Posts missing receives. `directed_at` may be null.
  void replenish(const PeerRef& directed_at, Rng& rng);
  // A process is gone: what waits for it alone is cancelled, and its address may mean another.
  void forget(const Peer& peer);
  void learn(const Peer& peer);
  // An event of written data.
  void on_written(const Outcome& outcome);

  Ledger& ledger() { return ledger_; }
  void cancel_all();
  bool is_empty() const { return receives_.empty(); }
  size_t posted() const { return receives_.size(); }

 private:
  struct Receive;
  // The receives of a stream: how many there ever were, and how many wait now.
  struct Posted {
    uint64_t postings = 0;
    uint32_t undirected = 0;
    uint32_t directed = 0;
  };

  void post(uint32_t stream, const PeerRef& directed_at);
  void on_done(Receive& receive, const Outcome& outcome);
  void on_error(Receive& receive, const Outcome& outcome);
  void check(const Receive& receive, const Outcome& outcome);
  void check_source(const MessageId& id, const Outcome& outcome);
  void record(const MessageId& id, Ledger::Place place);
  void release(Receive& receive);

  const Options& options_;
  const Traits traits_;
  Node& node_;
  const Link& link_;
  Tally& tally_;
  const uint32_t slot_;
  const uint32_t incarnation_;
  std::unordered_set<Receive*> receives_;
  Posted streams_[kStreams] = {};
  Ledger ledger_;
  std::map<std::pair<uint32_t, uint32_t>, fi_addr_t> known_;
  bool is_closing_ = false;
};

}  // namespace uet::stress
