// Checks a receive call, resolves its sender, and keeps its state with the application. The same
// for receives of an endpoint and shared ones. [LF-046, LF-059]
#pragma once

#include "prov/uet/endpoint/calls.h"
#include "prov/uet/progress/progress.h"

#include "ses/types.h"

#include "base/result.h"

#include <sys/types.h>
#include <cstdint>
#include <span>

namespace uet::prov {

class AddressVector;
struct DomainEngine;

// Whether flags, tag and mask go together. 0 or -FI_E*; `tag_format` is kTagMpi, kTagCcl or bits.
ssize_t check_receive(const MessageCall& call, uint64_t tag_format);

// The receive that the call describes, into those buffers. Its sender and what its completion says
// are still open. `multi_min` is FI_OPT_MIN_MULTI_RECV, in octets. [LF-096]
ses::ReceiveRequest receive_request(const MessageCall& call, std::span<const IoSlice> buffers,
                                    uint32_t multi_min);

// Whether a receive of those capabilities can be for one sender.
bool is_directed(uint64_t caps, bool tagged);

// Fills in which senders match the receive: any, an address, or with FI_AUTH_KEY every address of a
// key. 0 or -FI_E*. The lock of the receive's `engine` is held; `av` may be null, which only
// receives from any sender allow. [LF-046, LF-021, LF-068]
ssize_t aim_receive(const MessageCall& call, uint64_t caps, AddressVector* av,
                    const DomainEngine& engine, ses::ReceiveRequest& request);

// The place of a message claimed by FI_PEEK | FI_CLAIM until FI_CLAIM fetches it: the application's
// struct fi_context, which both calls name. [LF-059]
void keep_claim(void* context, uint32_t claim);
uint32_t kept_claim(const void* context);

// Posts the receive of a checked call at an endpoint or at shared receives; with FI_CLAIM it takes
// the message that was claimed.
template <class Queue>
Result<void> post_or_claim(ProgressEngine::Entry& entry, Queue queue, const MessageCall& call,
                           const ses::ReceiveRequest& request) {
  if ((call.flags & FI_CLAIM) == 0) return entry.ses().receive(queue, request, entry.now());
  return entry.ses().claims().receive(queue, kept_claim(call.context), request, entry.now());
}

}  // namespace uet::prov
