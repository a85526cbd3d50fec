// The state of a domain as the text for uet_ctl: one JSON object. It is for people and their
// scripts; docs/howto/uet_ctl.md lists the members.
#pragma once

#include "prov/uet/api/fi_ext_uet.h"

#include "base/packet.h"
#include "base/time.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace uet::prov {

struct DomainStatus {
  std::string domain;
  std::string fabric;
  FabricAddress local;
  uint32_t job = 0;
  uint32_t payload_mtu = 0;
  Duration open;                                         // since fi_domain
  int failure = 0;                                       // errno of the backend; 0: it works
  std::vector<std::pair<uint16_t, uint16_t>> endpoints;  // (PIDonFEP, RI)
};

// The members that identify the domain at the start of every answer.
void put_identity(std::string& out, const DomainStatus& status);

// "10.0.0.1 4793", or "" for an address that is not valid.
void put_address(std::string& out, const char* name, const FabricAddress& address);

std::string status_text(const DomainStatus& status, std::span<const fi_uet_counter> counters);

}  // namespace uet::prov
