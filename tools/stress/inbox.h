// The receiving side of one process: keeps receives posted, and checks each message against its
// name: length, octets, source, that it comes once, and in order where that is promised.
#pragma once

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

  // Posts what is missing. `directed_at` may be nobody.
  void replenish(const PeerRef& directed_at, Rng& rng);
  // A process is gone: what waits for it alone is cancelled, and its address may mean another.
  void forget(const Peer& peer);
  void learn(const Peer& peer);
  // An event of written data.
  void on_written(const Outcome& outcome);

  // `count` messages were sent on that stream by a process that sends no more. On all its streams
  // together `excused` messages may be missing.
  void expect(uint32_t from, uint32_t incarnation, uint32_t stream, uint32_t count,
              uint32_t excused);
  bool has_all() const;
  std::string missing() const;
  void cancel_all();
  bool is_empty() const { return receives_.empty(); }
  size_t posted() const { return receives_.size(); }

 private:
  struct Receive;
  // Where a message lies: in receive order, and within a receive of several.
  using Place = std::pair<uint64_t, size_t>;
  struct Incoming {
    std::vector<bool> seen;
    uint32_t count = 0;
    uint32_t expected = 0;
    std::map<uint32_t, Place> recent;  // by sequence number
  };

  void post(uint32_t stream, const PeerRef& directed_at);
  void on_done(Receive& receive, const Outcome& outcome);
  void on_error(Receive& receive, const Outcome& outcome);
  void check(const Receive& receive, const Outcome& outcome);
  void check_source(const MessageId& id, const Outcome& outcome);
  void record(const MessageId& id, Place place);
  void release(Receive& receive);
  Incoming& incoming(uint32_t from, uint32_t incarnation, uint32_t stream);

  const Options& options_;
  const Traits traits_;
  Node& node_;
  const Link& link_;
  Tally& tally_;
  const uint32_t slot_;
  const uint32_t incarnation_;
  std::unordered_set<Receive*> receives_;
  uint64_t postings_[kStreams] = {};
  uint32_t posted_[kStreams] = {};
  uint32_t directed_[kStreams] = {};
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Incoming> incoming_;
  std::map<std::pair<uint32_t, uint32_t>, fi_addr_t> known_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> excused_;
  bool is_closing_ = false;
};

}  // namespace uet::stress
