// The open domains of this process, in the order in which they were opened.
#pragma once

#include "prov/uet/api/compat.h"

#include "base/packet.h"

#include <optional>
#include <vector>

namespace uet::prov {

class Domain;

// Owns the list of open domains, not the domains. Calls come from any thread. In a forked child the
// list also has the domains of the parent, which are not used there. [ABI-015]
class OpenDomains {
 public:
  void add(Domain& domain);
  void remove(Domain& domain);

  // For fi_getinfo. Where an open domain is; nothing when `fid` is not an open domain of uet.
  std::optional<FabricAddress> address_of(const fid_domain* fid);
  // The first one that was opened there, or null. The port does not matter.
  fid_domain* first_at(const FabricAddress& address);
  // For the end of the process: retires the engines of all open domains. No object is freed: other
  // threads may be inside, and may call again until the process is gone. [ABI-015]
  void stop_all();

 private:
  std::vector<Domain*> domains_;  // under open_objects()
};

// The list of this process; never destroyed.
OpenDomains& open_domains();

}  // namespace uet::prov
