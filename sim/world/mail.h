// A network of datagrams whose delays a test decides. It owns those in flight and those that have
// arrived and were not received.
#pragma once

#include "sim/world/clock.h"
#include "sim/world/datagram.h"
#include "sim/world/transit.h"

#include "base/hash.h"
#include "base/packet.h"
#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace uet::sim {

class Mail {
 public:
  // The next actor, from 0, is at that address.
  void add(const FabricAddress& at) {
    by_address_.emplace(at, static_cast<uint32_t>(inboxes_.size()));
    inboxes_.emplace_back();
  }
  // kNobody: no actor is there.
  uint32_t find(const FabricAddress& at) const {
    const auto found = by_address_.find(at);
    return found == by_address_.end() ? kNobody : found->second;
  }
  Transit<Datagram>& transit() { return transit_; }
  // Datagrams that have arrived for the actor, in their order.
  std::vector<Datagram> take(uint32_t actor) { return std::exchange(inboxes_[actor], {}); }

  // As a Network.
  Instant next_event() const { return transit_.next(); }
  void advance(Instant now) {
    while (transit_.next() <= now) {
      Datagram datagram = transit_.take();
      const uint32_t to = find(datagram.to);
      if (to == kNobody) continue;
      if (inboxes_[to].empty()) touched_.push_back(to);
      inboxes_[to].push_back(std::move(datagram));
    }
  }
  uint32_t take_touched() {
    if (touched_.empty()) return kNobody;
    const uint32_t actor = touched_.back();
    touched_.pop_back();
    return actor;
  }

 private:
  struct AddressHash {
    size_t operator()(const FabricAddress& a) const {
      return hash64(std::as_bytes(std::span(&a, 1)), 0);  // it has no padding
    }
  };

  std::unordered_map<FabricAddress, uint32_t, AddressHash> by_address_;
  Transit<Datagram> transit_;
  std::vector<std::vector<Datagram>> inboxes_;  // by actor
  std::vector<uint32_t> touched_;
};

}  // namespace uet::sim
