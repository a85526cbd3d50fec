// Turns requests, of users and of SES itself, into operations: judges them, takes their memory and
// chooses how they will travel.
#pragma once

#include "ses/deferral/deferrals.h"
#include "ses/outgoing/operations.h"
#include "ses/outgoing/remotes.h"
#include "ses/outgoing/send_order.h"
#include "ses/rendezvous/exposures.h"
#include "ses/resources.h"

#include <cstdint>
#include <span>

namespace uet::ses {

// The rest of a message of a peer, into memory that the target half answers for. [SES-089]
struct RestRequest {
  Destination from;
  std::span<const IoSlice> iov;  // empty: only says that no more will be read
  uint64_t offset = 0;
  uint64_t key = 0;
  uint32_t pull = 0;           // comes back with the end
  uint32_t shown_payload = 0;  // octets in the sender's first packet
};

class Posting {
 public:
  Posting(Resources& res, Remotes& remotes, SendOrder& order, Operations& operations,
          Exposures& exposures, Deferrals& deferrals)
      : res_(res),
        remotes_(remotes),
        order_(order),
        operations_(operations),
        exposures_(exposures),
        deferrals_(deferrals) {}

  // Errors as of Ses::send, rma and atomic; then nothing was changed.
  Result<Taken> send(Endpoint& ep, const SendRequest& request);
  Result<Taken> rma(Endpoint& ep, const RmaRequest& request);
  Result<Taken> atomic(Endpoint& ep, const AtomicRequest& request);

  // Operations of SES itself; each ends with an InternalEnd. Errc::again: no slot.
  Result<void> read_rest(Endpoint& ep, const RestRequest& request);
  // Asks the initiator of a deferred message to send it again. [SES-098]
  Result<void> send_restart(Endpoint& ep, const Restart& restart, uint32_t deferred);

 private:
  Result<TxMessage*> make(Endpoint& ep, const Destination& to, std::span<const IoSlice> iov,
                          uint32_t flags);
  Flow* rudi_flow(const Endpoint& ep, const RmaRequest& request);
  bool is_too_late(const Endpoint& ep, const Destination& to) const;
  bool reads_whole(const TxMessage& m, PeerId peer) const;
  Taken post(Endpoint& ep, TxMessage& m);
  void post_internal(Endpoint& ep, TxMessage& m);

  Resources& res_;
  Remotes& remotes_;
  SendOrder& order_;
  Operations& operations_;
  Exposures& exposures_;
  Deferrals& deferrals_;
};

}  // namespace uet::ses
