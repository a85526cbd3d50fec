// One of the engines of a domain, with the address where peers find it and the keys of its packets.
// A domain has as many as FI_UET_ENGINES says; each endpoint runs in one of them. [LF-145,
// decision 27]
#pragma once

#include "prov/uet/domain/security.h"
#include "prov/uet/progress/progress.h"

#include "base/packet.h"

#include <cstdint>
#include <memory>

namespace uet::prov {

struct DomainEngine {
  uint32_t index = 0;  // in its domain
  FabricAddress local;
  std::shared_ptr<Security> security;  // null: all packets go in the clear; outlives the engine
  std::unique_ptr<ProgressEngine> progress;
  uint32_t endpoints = 0;  // that run in it; under Domain::set_up_lock()
};

}  // namespace uet::prov
