// Kept messages that a user looks at before a receive takes them: FI_PEEK, FI_CLAIM, FI_DISCARD.
#pragma once

#include "ses/endpoints.h"
#include "ses/receives/delivery.h"
#include "ses/receives/kept_messages.h"
#include "ses/types.h"

#include "base/result.h"

#include <cstdint>

namespace uet::ses {

// Finds, claims and hands out kept messages by endpoint or shared queue. A claimed message is
// hidden from all receives until receive() or discard() ends the claim. Errc::not_found: no such
// claim (its sender may have failed meanwhile). An endpoint that shares its receives looks at the
// messages of all that share them. [LF-059]
class Claims {
 public:
  Claims(Endpoints& endpoints, KeptMessages& kept, Delivery& delivery)
      : endpoints_(endpoints), kept_(kept), delivery_(delivery) {}

  Peeked peek(EndpointId id, const ReceiveRequest& filter, bool claim, Instant now);
  Result<void> receive(EndpointId id, uint32_t claim, const ReceiveRequest& request, Instant now);
  // Errc::again: no room for the completion of this shared receive.
  Result<void> receive(ReceiveQueueId id, uint32_t claim, const ReceiveRequest& request,
                       Instant now);
  bool discard(EndpointId id, uint32_t claim, Instant now);
  bool discard(ReceiveQueueId id, uint32_t claim, Instant now);
  // The same for a message that cannot be received: its sender gets an error.
  bool refuse(ReceiveQueueId id, uint32_t claim, Instant now);
  // Its sender and its endpoint; found is false: no such claim.
  Peeked look(ReceiveQueueId id, uint32_t claim) const;
  // The endpoint that a claimed message came to. Errc::not_found: no such claim.
  Result<EndpointId> endpoint_of(ReceiveQueueId id, uint32_t claim) const;

 private:
  Endpoints& endpoints_;
  KeptMessages& kept_;
  Delivery& delivery_;
};

}  // namespace uet::ses
