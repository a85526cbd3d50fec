// Builds what a domain runs on: packet backend, stack and engine, from the interface, what was
// agreed in fi_getinfo and the FI_UET_* parameters. Knows no fid.
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/domain/info.h"
#include "prov/uet/domain/payload_mtu.h"
#include "prov/uet/domain/security.h"
#include "prov/uet/progress/progress.h"
#include "prov/uet/settings/settings.h"

#include "base/packet.h"

#include <cstdint>
#include <memory>

namespace uet::prov {

struct DomainSetup {
  std::shared_ptr<Security> security;  // null: all packets go in the clear
  std::unique_ptr<ProgressEngine> engine;
  FabricAddress local;       // what peers reach the domain at
  OwnPayload payload;        // [LF-131]
};

// 0, or a negative errno after a warning that names the remedy.
int set_up_domain(const Settings& settings, const DomainCandidate& candidate,
                  const fi_domain_attr& attr, DomainSetup& out);

// 64 bits from the operating system; for seeds only.
uint64_t os_random();

}  // namespace uet::prov
