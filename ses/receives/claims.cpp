// Routing of claims to the kept messages of a queue.
#include "ses/receives/claims.h"

#include "base/assert.h"

namespace uet::ses {

using wire::ReturnCode;

Peeked Claims::peek(EndpointId id, const ReceiveRequest& filter, bool claim, Instant now) {
  return kept_.peek(*endpoints_.enter(id, now).queue, filter, claim);
}

Result<void> Claims::receive(EndpointId id, uint32_t claim, const ReceiveRequest& request,
                             Instant now) {
  return delivery_.receive_claimed(*endpoints_.enter(id, now).queue, claim, request);
}

Result<void> Claims::receive(ReceiveQueueId id, uint32_t claim, const ReceiveRequest& request,
                             Instant now) {
  return delivery_.receive_claimed(endpoints_.enter(id, now), claim, request);
}

bool Claims::discard(EndpointId id, uint32_t claim, Instant now) {
  return delivery_.discard_claimed(*endpoints_.enter(id, now).queue, claim, ReturnCode::ok);
}

bool Claims::discard(ReceiveQueueId id, uint32_t claim, Instant now) {
  return delivery_.discard_claimed(endpoints_.enter(id, now), claim, ReturnCode::ok);
}

bool Claims::refuse(ReceiveQueueId id, uint32_t claim, Instant now) {
  ReceiveQueue& queue = endpoints_.enter(id, now);
  return delivery_.discard_claimed(queue, claim, ReturnCode::host_unsuccess_cmpl);
}

Peeked Claims::look(ReceiveQueueId id, uint32_t claim) const {
  const ReceiveQueue* const queue = endpoints_.get(id);
  UET_ASSERT(queue != nullptr);
  const UnexpectedMessage* const u = kept_.claimed(*queue, claim);
  return u == nullptr ? Peeked{} : KeptMessages::seen(*u);
}

Result<EndpointId> Claims::endpoint_of(ReceiveQueueId id, uint32_t claim) const {
  const ReceiveQueue* const queue = endpoints_.get(id);
  UET_ASSERT(queue != nullptr);
  const UnexpectedMessage* const u = kept_.claimed(*queue, claim);
  if (u == nullptr) return Errc::not_found;
  return EndpointId(u->endpoint);
}

}  // namespace uet::ses
