// Reports of remote accesses to a user's memory.
#pragma once

#include "ses/endpoint.h"
#include "ses/incoming/request.h"
#include "ses/incoming/rx_message.h"
#include "ses/memory/memory_region.h"

namespace uet::ses {

// Write with immediate: a completion that consumes no receive. [SES-073] All other accesses go to
// remote access counters. [LF-097] `m` is the message if it had several packets.
void report_remote(const Endpoint& ep, const MemoryRegions& memory, const Request& q, OpKind kind,
                   RegionId region, const RxMessage* m = nullptr);

}  // namespace uet::ses
