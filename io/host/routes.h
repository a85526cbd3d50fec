// The MTU of the route to an address, from the kernel (rtnetlink): the MTU of its interface, or the
// one of the route or of a router's ICMP error.
#pragma once

#include "io/socket.h"

#include "base/packet.h"
#include "base/time.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::io {

struct Route {
  uint32_t mtu_bytes = 0;  // of IP packets; 0: the system does not say, or has no route
  bool is_local = false;   // the address is one of this host: packets do not leave it
};

// The MTU among the metrics of a route, in the form of RTA_METRICS; 0: there is none.
uint32_t mtu_in_metrics(std::span<const std::byte> octets);

// Answers of the kernel, kept for a second. One thread.
class Routes {
 public:
  // The route of packets from one address to another. Two system calls, none for a destination that
  // was asked for less than a second ago; two more for the first in a row.
  Route find(const FabricAddress& from, const FabricAddress& to, Instant now);
  // The same from the kernel, never from the cache.
  Route ask_anew(const FabricAddress& from, const FabricAddress& to, Instant now);
  // No further question follows soon: closes the netlink socket.
  void rest() { netlink_ = Fd(); }

 private:
  static constexpr uint32_t kEntries = 64;
  static constexpr Duration kKept = Duration::seconds(1);

  struct Entry {
    FabricAddress to;  // its port does not matter
    Route route;
    Instant until = Instant::zero();
  };

  Entry& entry_of(const FabricAddress& to);
  Route ask(const FabricAddress& from, const FabricAddress& to, Instant now);
  uint32_t interface_mtu(uint32_t interface_index, Instant now);

  Fd netlink_;
  std::array<Entry, kEntries> entries_;
  // For the interface of the last query.
  uint32_t interface_index_ = 0;
  uint32_t interface_mtu_ = 0;
  Instant interface_until_ = Instant::zero();
};

}  // namespace uet::io
