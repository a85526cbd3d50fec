// Log lines through libfabric's own switchboard (FI_LOG_LEVEL, FI_LOG_PROV). Never on a path that
// is taken once per packet or operation.
#pragma once

#include "prov/uet/api/compat.h"

#include <cerrno>

namespace uet::prov {

// The descriptor that fi_prov_ini returned; it is never freed. [ABI-015]
fi_provider& provider();

}  // namespace uet::prov

// `subsys` is the part after FI_LOG_: CORE, FABRIC, DOMAIN, EP_CTRL, EP_DATA, AV, CQ, EQ, MR, CNTR.
#define UET_WARN(subsys, ...) FI_WARN(&::uet::prov::provider(), FI_LOG_##subsys, __VA_ARGS__)
#define UET_INFO(subsys, ...) FI_INFO(&::uet::prov::provider(), FI_LOG_##subsys, __VA_ARGS__)
