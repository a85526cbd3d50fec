// Converts a node and service of an application to UET addresses, and finds the local address that
// reaches a remote one. Asks the system's name service and routing. [LF-014]
#pragma once

#include "prov/uet/address/address.h"

#include "base/packet.h"
#include "base/result.h"

#include <vector>

namespace uet::prov {

// A decimal number or "pid:ri". Errc::invalid for anything else. [LF-014]
Result<void> apply_service(const char* service, UetAddress& address);

// The addresses of a host name or numeric address, IPv4 first, so that two processes that resolve
// the same name agree on the first. With `numeric` no name service is asked. Empty: none.
std::vector<FabricAddress> resolve_node(const char* node, bool numeric);

// The local address that the system would send to `remote` from. Errc::not_found: no route.
Result<FabricAddress> local_address_toward(const FabricAddress& remote);

}  // namespace uet::prov
