// The fixed terms of a domain: the agreement of fi_getinfo, and the address, interface and job that
// follow from it. They do not change once the domain is open.
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/domain/payload_mtu.h"

#include "base/packet.h"

#include <cstdint>
#include <string>

namespace uet::prov {

struct DomainTerms {
  // FI_MR_BASIC is the provider's keys and virtual addresses by one name. [LF-151]
  bool gives_keys() const { return (mr_mode & (FI_MR_PROV_KEY | kMrBasic)) != 0; }
  bool has_virtual_addresses() const { return (mr_mode & kMrBasic) != 0; }
  // Octets of payload in packets of the network; stated in addresses of this domain. [LF-131]
  uint32_t payload_mtu() const { return payload.network; }

  uint64_t caps = 0;
  bool has_peers = false;  // FI_PEER: another provider owns queues of it [LF-159]
  int mr_mode = 0;
  uint32_t addr_format = 0;
  bool has_av_keys = false;  // FI_AV_AUTH_KEY: the address vectors have the jobs [LF-019]
  JobId job;
  bool has_key = false;  // the job comes from a key of the application [LF-018]
  OwnPayload payload;
  FabricAddress local;  // where peers reach this domain
  std::string name;
  std::string fabric_name;
};

}  // namespace uet::prov
