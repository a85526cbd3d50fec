// The completion queue of another provider, which fi_cq_open with FI_PEER imports: completions go
// there in its owner's turn. Its owner locks it, signals it and provides its room.
// [LF-159, fi_peer, PEER CQ]
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/completion/completion_ring.h"

#include <cstdint>

namespace uet::prov {

// The queue in the context of fi_cq_open; null after a warning: the context names no usable queue.
fid_peer_cq* peer_cq_of(void* context);

enum class Handed : uint8_t {
  written,  // or there was nothing to report
  later,    // the owner has no room now: nothing happened
  lost,     // the owner refused it for good, which the log says
};
// Writes an entry there; its receive, if any, goes back to its owner. `error`: for an error entry,
// else null. Inside a CallOut.
Handed hand_over(fid_peer_cq& owner, const CompletionEntry& entry, const CompletionError* error);

// The receive of an entry goes back to its owner, before the entry is written. Inside a CallOut.
void give_back(CompletionEntry& entry);

}  // namespace uet::prov
