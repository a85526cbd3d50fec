// SPDX-License-Identifier: GPL-2.0-or-later
// Captures on a host show joined packets: several packets that it hands to its interface at once
// (UDP segmentation offload), or takes from it at once, are one long datagram there.
#pragma once

#include "dissector/compat.h"

namespace uet::dissector {

// The size of each packet but the last in a UDP payload of several; 0: it is one packet. All must
// be requests of one PDC, or sealed by one source.
int joined_size(tvbuff_t* tvb);

}  // namespace uet::dissector
