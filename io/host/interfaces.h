// The addresses that this host can be reached at, for discovery and for finding an MTU. A snapshot;
// nothing here watches for changes.
#pragma once

#include "base/packet.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace uet::io {

enum class LinkType : uint8_t {
  other,
  ethernet,
  loopback
};

// One address of one interface that is up.
struct Interface {
  std::string name;
  uint32_t index = 0;     // the kernel's, also the scope ID of link-local addresses
  FabricAddress address;  // port 4793
  uint8_t prefix_bits = 0;
  uint32_t mtu_bytes = 0;  // of IP packets; 0: unknown
  LinkType link = LinkType::other;
  std::array<uint8_t, 6> mac{};  // zero if there is none
  uint64_t speed_bps = 0;        // 0: unknown, as on most virtual links
  bool is_virtual = false;       // no device is behind it; its speed is made up

  bool is_loopback() const { return link == LinkType::loopback; }
  bool is_link_local() const { return address.scope_id != 0; }
};

// All addresses of interfaces that are up: best first. Loopback comes after everything else, within
// that IPv6 link-local after the rest, then by interface index, IPv4 before IPv6.
// Empty when the system does not say.
std::vector<Interface> list_interfaces();

// The entry with this address; for addresses like 127.0.0.5, which no interface names, the loopback
// whose prefix covers it. Null when the address is not local.
const Interface* find_interface(const std::vector<Interface>& interfaces,
                                const FabricAddress& address);

}  // namespace uet::io
