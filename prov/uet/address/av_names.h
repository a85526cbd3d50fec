// The addresses that fi_av_insertsvc and fi_av_insertsym name: a range of nodes and services
// counted up from the first.
#pragma once

#include "prov/uet/address/address.h"

#include "base/packet.h"
#include "base/result.h"

#include <cstddef>
#include <string>

namespace uet::prov {

// Node i is the first one's numeric address plus i, or its host name with the number at the end
// grown by i; service j is the first one's number plus j. All services of a node come before the
// next node.
struct SymmetricNames {
  const char* node;
  const char* service;  // null: none stated
  size_t service_count;
  FabricAddress::Family family;  // of the addresses wanted

  // The address at a position. Asks the name service. Errc::not_found: no such node of that
  // family; Errc::invalid: a name that cannot be counted up, or no service.
  Result<UetAddress> address(size_t position) const;
};

// The name `step` after `node`, for example node008 + 2 = node010. Empty: no number at the end.
std::string counted_name(const std::string& node, size_t step);

}  // namespace uet::prov
