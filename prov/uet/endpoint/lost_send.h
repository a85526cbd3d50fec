// Report of an operation that failed after it had been reported as complete: by the event queue and
// the log, without the op_context, which may be in use again. Once for an address: later operations
// to it are refused until it is removed and inserted anew. [LF-137]
#pragma once

#include "prov/uet/completion/cq.h"

namespace uet::prov {

class EventQueue;

struct LostSend {
  fi_addr_t addr = FI_ADDR_NOTAVAIL;
  CompletionError error;  // the reason and the peer
};

// Writes the line, and the entry where `eq` is not null, in the name of `object`.
void report_lost_send(const LostSend& lost, const struct fid* object, EventQueue* eq);

}  // namespace uet::prov
