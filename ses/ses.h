// The interface of the semantic sublayer for its users: endpoints, posts, memory regions. It owns
// the two halves and passes posts to them; Exchange is what the layers below see.
#pragma once

#include "ses/config.h"
#include "ses/endpoints.h"
#include "ses/exchange.h"
#include "ses/memory/memory_region.h"
#include "ses/receives/claims.h"
#include "ses/resources.h"
#include "ses/snapshot.h"
#include "ses/types.h"

#include "pds/pdc/peer_table.h"
#include "pds/service.h"

#include "base/arena.h"
#include "base/prefetch.h"
#include "base/result.h"

#include <type_traits>

namespace uet::ses {

class Ses {
 public:
  // All memory comes from `arena`, also what open_endpoint adds; arena and peers outlive this.
  static Result<Ses*> create(Arena& arena, const Config& config, pds::PeerTable& peers,
                             uint64_t seed);
  // The PDS below; called once before anything else (the two refer to each other).
  void attach(pds::Service& pds) {
    res_.pds = &pds;
    res_.announces = pds.heeds_backlog();
  }

  using EndpointOptions = ses::EndpointOptions;

  // A set-up act. Errc::exists when the name is taken [LF-011], Errc::invalid for a name out of
  // range or sizes of 0, Errc::again when all endpoints are open, Errc::no_memory. Room for
  // operations and receives is taken when more are unfinished than ever before.
  Result<EndpointId> open_endpoint(const EndpointName& name, const EndpointOptions& options,
                                   CompletionSink tx, CompletionSink rx);
  // Opens receives for several endpoints that name them in their options: a receive posted to them
  // takes a message of any of these, in one order of posting and one of arrival. A set-up act. Each
  // message books room for its completion when it gets its receive; without room it waits as kept
  // or is refused with a retryable NACK. Errors as of open_endpoint. [LF-133]
  Result<ReceiveQueueId> open_shared(uint32_t rx_size);
  // The same with receives that `owner` has, which is asked for one when a message arrives in its
  // turn; nothing is posted here. `owner` outlives the queue. [LF-159]
  Result<ReceiveQueueId> open_owned(uint32_t rx_size, ReceiveOwner& owner);
  // Until end_turn() owners may be asked, first for receives of what was kept for them before.
  // Begin and end a turn within a call of the owner.
  void begin_turn(Instant now) {
    res_.now = now;
    incoming_.owned().begin_turn();
  }
  void end_turn() { incoming_.owned().end_turn(); }
  // Call when no endpoint uses them any more. Posted receives end without a report.
  void close_shared(ReceiveQueueId id, Instant now);

  // Ends every operation of the endpoint with status aborted; sent packets are still answered for
  // the peer's sake, but their data is dropped (buffers are never touched again). A shared receive
  // with a message of this endpoint is reported as aborted, too; the other receives stay posted.
  // [PDS-182]
  void close_endpoint(EndpointId id, Instant now);

  // Posts. Errc::again: no slot, nothing was changed, as with Errc::no_memory. Errc::too_long;
  // Errc::invalid (iov longer than 64, contradicting flags); Errc::unsupported. Everything later
  // arrives as a completion.
  Result<Taken> send(EndpointId id, const SendRequest& request, Instant now);
  Result<Taken> rma(EndpointId id, const RmaRequest& request, Instant now);
  Result<Taken> atomic(EndpointId id, const AtomicRequest& request, Instant now);
  Result<void> receive(EndpointId id, const ReceiveRequest& request, Instant now);
  Result<void> receive(ReceiveQueueId id, const ReceiveRequest& request, Instant now);
  // Takes back the newest posts, as many in a row as have that context.user. For a caller that has
  // made them in this visit of the engine and cannot go on: no packet of them exists. Each is
  // reported as cancelled before this returns. [LF-047]
  void take_back(EndpointId id, uint64_t user, Instant now);
  // Posted, and not confirmed by the peer.
  uint32_t sends_open(EndpointId id) { return endpoints_.get(id)->tx_open; }
  // Posted and not reported. `id`: EndpointId or ReceiveQueueId.
  template <class Id>
  uint32_t receives_open(Id id) {
    if constexpr (std::is_same_v<Id, EndpointId>) {
      return endpoints_.get(id)->queue->open;
    } else {
      return endpoints_.get(id)->open;
    }
  }
  // Cancels the oldest post of that context that can still be cancelled: a receive without a
  // message, an operation with unsent packets. It is reported as cancelled before this returns (a
  // multi-receive in use: after its last message). False: there is none. [LF-057, LF-058]
  bool cancel(EndpointId id, void* op_context, Instant now);
  // A shared receive, reported by the endpoint that has used them longest, if any; a multi-receive
  // in use ends as if it were full. Errc::not_found: none; Errc::again: no room for the completion.
  Result<void> cancel(ReceiveQueueId id, void* op_context, Instant now);

  // Kept messages, for FI_PEEK, FI_CLAIM and FI_DISCARD.
  Claims& claims() { return claims_; }
  MemoryRegions& memory() { return memory_; }
  const Counters& counters() const { return res_.counters; }
  const Config& config() const { return res_.config; }

  // The rest is what the layers below and their owner call.
  Exchange& exchange() { return exchange_; }

  // The application does not know the peer any more: what serves it is given back as it gets idle.
  void forget(PeerId peer, Instant now);

  // Prefetches, in steps that follow addresses in what the step before has prefetched: what nearly
  // every packet reads; that message and more; what these point to.
  void prefetch(uint32_t step, pds::MessageHandle message = {}) const {
    if (step == 0) {
      uet::prefetch(&exchange_, sizeof(Exchange));
      prefetch_between(&res_, &res_.rng);
      uet::prefetch(&res_.timers, 2 * kLineBytes);
      uet::prefetch(&outgoing_.operations(), sizeof(Operations));
      incoming_.prefetch();
      uet::prefetch(&endpoints_, 2 * kLineBytes);
      uet::prefetch(&memory_, 2 * kLineBytes);
    } else if (step == 1) {
      res_.timers.prefetch_next();
      incoming_.prefetch_message();
      outgoing_.operations().prefetch(message);
      endpoints_.prefetch();
    } else {
      outgoing_.operations().prefetch_remote(message);
      endpoints_.prefetch_first();
    }
  }
  bool idle() const { return exchange_.idle(); }
  // Adds to the totals of `out`, and copies what fits. Cost: a look at everything unfinished.
  void snapshot(Snapshot& out, Instant now);

  Ses(Arena& arena, const Config& config, pds::PeerTable& peers, uint64_t seed)
      : res_(arena, config, peers, seed),
        outgoing_(res_, endpoints_, memory_),
        answers_(res_, memory_),
        incoming_(res_, endpoints_, memory_, answers_, outgoing_),
        exchange_(res_, outgoing_, answers_, incoming_),
        endpoints_(res_),
        claims_(endpoints_, incoming_.kept(), incoming_.delivery()) {}

 private:
  Resources res_;
  Outgoing outgoing_;
  ReadAnswers answers_;
  Incoming incoming_;
  Exchange exchange_;
  Endpoints endpoints_;
  Claims claims_;
  MemoryRegions memory_;
};

}  // namespace uet::ses
