// What is done to a Config before a FabricEndpoint is created from it.
#pragma once

#include "fep/config.h"

namespace uet::fep {

// Sets what the UEC reference provider needs of its peers. Each of these is a setting as well: call
// it before single members are set, which then come on top. [PDS 22]
void meet_refprov(Config& config);

// Makes what depends on other members consistent with them: call once, after the last change.
void settle(Config& config);

}  // namespace uet::fep
