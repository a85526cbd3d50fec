// Adjustments of a Config before a FabricEndpoint is created from it.
#pragma once

#include "fep/config.h"

namespace uet::fep {

// The settings for the UEC reference provider as a peer. Each of these is also a separate setting:
// call this first, so that single settings override it. [PDS 22]
void meet_refprov(Config& config);

// Makes dependent members consistent: call once, after the last change.
void derive(Config& config);

}  // namespace uet::fep
