// The completion queue of another provider, which fi_cq_open with FI_PEER imports: completions go
// there. Its owner locks it, signals it and sees to its room. [LF-159, fi_peer, PEER CQ]
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/completion/completion_ring.h"

namespace uet::prov {

// The queue that the context of fi_cq_open names; null after a warning: there is none to write to.
fid_peer_cq* peer_cq_of(void* context);

// Engine lock held.
void write_to(fid_peer_cq& owner, const CompletionEntry& entry);
void write_error_to(fid_peer_cq& owner, const CompletionEntry& entry, const CompletionError& error);

}  // namespace uet::prov
