// How one host names the others: it looks an address up when it is first needed, as each entry
// takes memory of its endpoint, and keeps the name.
#pragma once

#include "sim/recording/endpoint.h"

#include "base/assert.h"
#include "base/packet.h"
#include "base/time.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace uet::sim {

// For the host with that index, 65,536 at most.
inline FabricAddress address_of(uint32_t host) {
  return FabricAddress::v4(0x0A000000U | (host & 0xFF00) | ((host + 1) & 0xFF));
}

class AddressBook {
 public:
  // Names of that endpoint for `hosts` hosts; names of an earlier one are forgotten.
  void open(recording::Endpoint& fep, uint32_t hosts) {
    fep_ = &fep;
    names_.assign(hosts, std::nullopt);
  }
  // now: on the clock of the endpoint.
  PeerId name(uint32_t host, Instant now) {
    std::optional<PeerId>& name = names_[host];
    if (!name) {
      const Result<PeerId> peer = fep_->peers().find_or_add(address_of(host), now);
      UET_ASSERT(peer.ok());
      fep_->peers().add_ref(*peer);
      name = *peer;
    }
    return *name;
  }
  // Whether `name` is that host. Until this end has looked it up, any entry with its address is.
  bool is(PeerId name, uint32_t host) const {
    if (names_[host]) return name == *names_[host];
    return fep_->fep().peers()[name].address == address_of(host);
  }

 private:
  recording::Endpoint* fep_ = nullptr;
  std::vector<std::optional<PeerId>> names_;  // by host; none: not looked up yet
};

}  // namespace uet::sim
