// Where the IP stack would send packets through one interface: the link-layer address of the next
// hop, asked of the kernel's route and neighbour tables (rtnetlink) and kept for a second.
// Ethernet.
#pragma once

#include "io/socket.h"

#include "base/packet.h"
#include "base/time.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace uet::io {

struct NextHop {
  std::array<uint8_t, 6> mac{};
  bool on_link = false;    // the destination itself, not a router
  uint32_t mtu_bytes = 0;  // of the route; 0: the MTU of the interface
};

class NextHops {
 public:
  // For packets from `local`, which is an address of the interface. Null with errno.
  static std::unique_ptr<NextHops> open(const FabricAddress& local, uint32_t interface_index);

  // Null: not known, not through this interface, or known for too long: then the IP stack should
  // carry a packet, which makes the kernel confirm the neighbour. Asks the kernel at most once a
  // millisecond (two system calls).
  const NextHop* find(const FabricAddress& to, Instant now);
  // Sending to this next hop failed.
  void forget(const FabricAddress& to);

  uint64_t questions() const { return questions_; }

 private:
  static constexpr uint32_t kEntries = 1024;
  static constexpr Duration kKept = Duration::seconds(1);
  static constexpr Duration kUnknown = Duration::milliseconds(5);  // until the next try
  static constexpr Duration kBetween = Duration::milliseconds(1);  // two questions

  struct Entry {
    FabricAddress to;  // its port does not matter
    NextHop hop;
    bool known = false;
    Instant until = Instant::zero();  // the entry is valid, even if no next hop is known
  };
  NextHops(const FabricAddress& local, uint32_t interface_index)
      : local_(local), interface_index_(interface_index) {}
  Entry& entry_of(const FabricAddress& to);
  bool ask(const FabricAddress& to, NextHop& hop);
  bool ask_route(const FabricAddress& to, FabricAddress& next, uint32_t& mtu_bytes);
  bool ask_neighbour(const FabricAddress& next, NextHop& hop);

  FabricAddress local_;
  uint32_t interface_index_;
  Fd netlink_;
  uint32_t sequence_ = 0;
  Instant asked_at_ = Instant::zero();
  uint64_t questions_ = 0;
  std::array<Entry, kEntries> entries_;
};

}  // namespace uet::io
