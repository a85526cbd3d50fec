// Share of common resources that all processes of one host hold together, on any port: each Peer
// refers to its host. Loopback addresses count as one host.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "base/hash_map.h"
#include "base/packet.h"
#include "base/result.h"
#include "base/slab.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace uet {

// The key for the hash map: FabricAddress has no padding, unused octets are zero.
inline uint64_t hash_of(const FabricAddress& address, uint64_t seed) {
  return hash64(std::as_bytes(std::span(&address, 1)), seed);
}

}  // namespace uet

namespace uet::pds {

// The sums of what its peers hold; see Peer for the meaning of each. [T-61]
struct Host {
  FabricAddress ip;  // port 0
  uint32_t peers = 0;
  uint32_t targets = 0;
  uint32_t half_open = 0;
  uint32_t rx_messages = 0;
  uint32_t rx_in_order = 0;  // of rx_messages: nothing before them was missing when they began
  uint32_t pulls = 0;
  uint32_t calls = 0;
  uint32_t answers = 0;
  uint32_t kept_messages = 0;
  uint32_t kept_pages = 0;
  uint32_t responses = 0;
  uint32_t extra_response = 0;  // 1 + the index of the one beyond its share; 0: none
  uint32_t reordered = 0;
  uint32_t fetches = 0;
  uint32_t rests = 0;
};

class HostTable {
 public:
  HostTable() = default;
  HostTable(const HostTable&) = delete;
  HostTable& operator=(const HostTable&) = delete;

  // Memory is taken as hosts come. The arena must outlive this object.
  Result<void> create(Arena& arena, Room room, uint64_t hash_seed) {
    UET_CHECK(by_ip_.create(arena, room, hash_seed));
    return hosts_.create(arena, room);
  }

  // The host of that address, which has one more peer. Errc::again: no memory for another host.
  Result<uint32_t> join(FabricAddress address) {
    address.port = 0;
    if (const uint32_t* const found = by_ip_.find(address)) {
      ++hosts_.at(*found).peers;
      return *found;
    }
    Host* const host = hosts_.alloc();
    if (host == nullptr) return Errc::again;
    const uint32_t index = hosts_.handle(host).index();
    if (!by_ip_.insert(address, index).ok()) {
      hosts_.free(host);
      return Errc::again;
    }
    host->ip = address;
    host->peers = 1;
    return index;
  }

  // The last peer of a host takes its record with it.
  void leave(uint32_t index) {
    Host& host = hosts_.at(index);
    UET_ASSERT(host.peers > 0);
    if (--host.peers != 0) return;
    UET_ASSERT(host.targets + host.rx_messages + host.kept_messages + host.answers == 0);
    UET_ASSERT(host.responses + host.reordered + host.fetches + host.rests == 0);
    UET_ASSERT(host.extra_response == 0);
    by_ip_.erase(host.ip);
    hosts_.free(&host);
  }

  Host& operator[](uint32_t index) { return hosts_.at(index); }
  uint32_t size() const { return hosts_.size(); }

 private:
  Slab<Host> hosts_;
  HashMap<FabricAddress, uint32_t> by_ip_;
};

}  // namespace uet::pds
