// Copies of the state of PDCs and contexts, for Pds::snapshot.
#pragma once

#include "pds/pdc/pdc_table.h"
#include "pds/schedule/contexts.h"
#include "pds/snapshot.h"

#include <span>

namespace uet::pds {

// Copies PDCs, first those on which operations wait; returns how many.
uint32_t copy_pdcs(PdcTable& table, const PeerTable& peers, std::span<PdcSnapshot> out,
                   Instant now);
// PDCs whose index is at least `from`.
ContextPage copy_contexts(Contexts& contexts, const PeerTable& peers,
                          std::span<ContextSnapshot> out, uint32_t from);

}  // namespace uet::pds
