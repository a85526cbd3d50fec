// Copying what PDCs are about, for Pds::snapshot.
#pragma once

#include "pds/pdc/pdc_table.h"
#include "pds/snapshot.h"

#include <span>

namespace uet::pds {

// Those first that somebody waits for; returns how many.
uint32_t copy_pdcs(PdcTable& table, const PeerTable& peers, std::span<PdcSnapshot> out,
                   Instant now);

}  // namespace uet::pds
