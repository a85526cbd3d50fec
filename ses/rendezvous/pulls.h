// Owns the rendezvous messages at their target: the pushed part is matched and placed like any
// message, then the rest is read from the initiator's memory, as far as the receive has room. A
// message without a receive is kept without its rest. [ses.md 4.4]
//
// stage \ event | placed, more to read | read or released | read, initiator waits for more
// arriving      | reading              | gone             | releasing
// reading       | -                    | gone             | releasing
// releasing     | -                    | gone             | -
#pragma once

#include "ses/backoff.h"
#include "ses/endpoints.h"
#include "ses/incoming/request.h"
#include "ses/outgoing/posting.h"
#include "ses/receives/receives.h"
#include "ses/rendezvous/pull.h"
#include "ses/resources.h"

#include "base/hash_map.h"
#include "base/slab.h"

#include <cstdint>

namespace uet::ses {

class Pulls {
 public:
  Pulls(Resources& res, const Endpoints& endpoints, Receives& receives, Posting& posting)
      : res_(res), endpoints_(endpoints), receives_(receives), posting_(posting) {}
  Result<void> create(Rng& rng);

  // A record for the message that begins with this request. Null: no room, or the room is reserved
  // for other peers.
  Pull* make(const Request& q);
  void free(Pull& p);
  // Whether a message of that peer with that source key is known.
  bool is_known(PeerId peer, uint64_t source_key) const {
    return by_key_.find({peer, source_key}) != nullptr;
  }

  // The pushed part is in its place: the receive completes when the rest is there too.
  void read_rest(const Endpoint& ep, Pull& p, PostedReceive& r, const Arrived& a);
  // Nothing of the rest of a kept message is wanted.
  void discard(const Endpoint& ep, Pull& p, uint32_t request_length);
  // A read that was posted for a Pull is over.
  void on_end(const InternalEnd& done);
  // The endpoint closes.
  void close(const Endpoint& ep);

  // Repeats attempts that are due.
  void retry();
  Instant next_deadline() const;
  bool idle() const { return waiting_.empty() && failed_releases_.empty(); }

 private:
  bool may_make(const Request& q) const;
  void release_sender(const Endpoint& ep, Pull& p);
  void wait(Pull& p);
  void drop_if_empty(PullQueue& queue);
  bool has_place(PeerId peer) const;
  void start();
  bool start(Pull& p);
  void fail(Pull& p, Completion::Status status, wire::ReturnCode code);

  Resources& res_;
  const Endpoints& endpoints_;
  Receives& receives_;
  Posting& posting_;
  Slab<Pull> pulls_;
  HashMap<PullKey, Pull*> by_key_;
  Slab<PullQueue> queues_;
  HashMap<PeerId, PullQueue*> by_peer_;
  IntrusiveList<PullQueue, PullQueueTag> waiting_;  // for one of the places to read, in turns
  IntrusiveList<Pull, PullTag> failed_releases_;    // next one first
  Backoff again_;
  uint32_t reading_ = 0;
};

}  // namespace uet::ses
