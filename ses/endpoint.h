// One open endpoint of this FEP: its name, its unfinished operations, and the queues of its
// receives.
#pragma once

#include "ses/outgoing/retained.h"
#include "ses/receives/receive_queue.h"
#include "ses/types.h"

#include "base/intrusive_list.h"
#include "base/serial.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace uet::ses {

struct TxMessage;

using EndpointId = Id<struct EndpointTag, uint32_t>;  // 0: none

struct EndpointOptions {
  pds::Mode mode = pds::Mode::rud;  // rod when an order was asked for [SES-025, SES-026]
  TrafficClass tc;                  // DSCP of its requests [LF-092]
  uint32_t tx_size = 1024;          // operations unfinished at most; then Errc::again
  uint32_t rx_size = 1024;          // receives posted at most; then Errc::again
  ReceiveQueueId shared;            // the endpoint whose receives it uses; none: it has rx_size own
                                    // ones
  bool reject_truncated = false;    // TOO_LONG instead of a prefix [SES-138]
  // Jobs that an absolute endpoint accepts; empty: all. The list stays valid until
  // close_endpoint(). [SES-004, LF-020, LF-021]
  std::span<const JobId> jobs;

  bool hears(JobId job) const {
    return jobs.empty() || std::find(jobs.begin(), jobs.end(), job) != jobs.end();
  }
};

// Index generation of one class of messages of a resource index. [SES-131]
struct Generation {
  uint8_t value = 0;  // wraps
  bool is_enabled = true;
  // Values of enabled_total and released_total when it was disabled: resources released since then
  // enable it again. [SES-133, LF-039]
  uint64_t memory_mark = 0;
  uint64_t room_mark = 0;
};

struct Endpoint : ListNode<SharerTag>, ListNode<struct StalledTag>, ListNode<struct FreeTag> {
  EndpointId id;
  bool is_open = false;
  uint32_t tx_open = 0;
  uint32_t deferred = 0;       // deferred messages
  uint64_t next_sequence = 1;  // posting order of operations
  EndpointName name;
  EndpointOptions options;
  CompletionSink tx;
  CompletionSink rx;
  Generation untagged_generation;  // also RMA [SES-131]
  Generation tagged_generation;
  ReceiveQueue* queue = nullptr;  // while open
  // The ring of endpoints of its process.
  Endpoint* next_of_process = this;
  Endpoint* previous_of_process = this;
  IntrusiveList<TxMessage, struct OwnedTag> operations;  // all unreported, in posting order

  RetainedPayloads retained;  // stays with the slot; each use clears its contents

  Matcher& matcher(bool is_tagged) { return queue->matcher(is_tagged); }
  // A kept message could not go to its receive because the completion queue was full. Later ones
  // wait behind it, to keep their order. Among its own receives only multi-receives can cause that.
  bool is_stalled() const { return ListNode<StalledTag>::is_linked(); }
  // Whether no receive is given to its messages for now.
  bool is_held(bool is_tagged) const { return is_stalled() && (!is_tagged || queue->is_shared); }
  Generation& generation(bool is_tagged) {
    return is_tagged ? tagged_generation : untagged_generation;
  }
};

}  // namespace uet::ses
