// Builds an engine of a domain: packet backend, stack and helper, from the interface, the agreement
// of fi_getinfo and the FI_UET_* parameters. Knows no fid.
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/domain/engines.h"
#include "prov/uet/domain/info.h"
#include "prov/uet/domain/payload_mtu.h"
#include "prov/uet/settings/settings.h"

#include <cstdint>

namespace uet::prov {

// Everything of `out` but its index. `payload`: of packets, the same for each engine of a domain
// [LF-131]. 0, or a negative errno after a warning that names the remedy.
int set_up_engine(const Settings& settings, const DomainCandidate& candidate,
                  const fi_domain_attr& attr, DomainEngine& out, OwnPayload& payload);

// 64 bits from the operating system; for seeds only.
uint64_t os_random();

}  // namespace uet::prov
