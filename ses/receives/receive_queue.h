// Where receives are posted and messages wait for one: of one endpoint alone, or of several that
// share their receives. Messages are matched here, whichever of the endpoints they came to.
#pragma once

#include "ses/receives/matcher.h"

#include "base/intrusive_list.h"
#include "base/serial.h"

#include <cstdint>

namespace uet::ses {

struct Endpoint;
class ReceiveOwner;

using ReceiveQueueId = Id<struct ReceiveQueueTag, uint32_t>;  // 0: none

// The whole queue has one order of posting and one of arrival. [SES-122]
struct ReceiveQueue : ListNode<struct FreeQueueTag>, ListNode<struct OwnedTag> {
  ReceiveQueueId id;
  bool is_open = false;
  // Receives do not belong to an endpoint, so the room for a completion is booked when a message
  // gets one, not when it is posted. [decision 11]
  bool is_shared = false;
  ReceiveOwner* owner = nullptr;  // whose receives it has; null: those posted here
  uint32_t size = 0;              // receives posted at most; then Errc::again
  uint32_t open = 0;              // receives posted and not reported
  uint32_t disabled = 0;  // resource indices of its endpoints, of each class, that refuse messages
  uint32_t stalled = 0;   // of its endpoints
  uint32_t deferred = 0;  // deferred messages
  uint64_t next_sequence = 1;
  Matcher untagged;
  Matcher tagged;
  IntrusiveList<PostedReceive, PostedTag> receives;     // all unfinished, in posting order
  IntrusiveList<Endpoint, struct SharerTag> endpoints;  // the open ones, the oldest first

  Matcher& matcher(bool is_tagged) { return is_tagged ? tagged : untagged; }
};

}  // namespace uet::ses
