// Payload size of packets: on an interface when FI_UET_PAYLOAD_MTU is not set, and toward one peer.
// One rule for the provider and for uet_ctl doctor. [LF-131, LF-140]
#pragma once

#include "prov/uet/address/address.h"

#include "io/host/interfaces.h"
#include "io/host/routes.h"
#include "wire/payload_mtu.h"

#include <algorithm>
#include <cstdint>

namespace uet::prov {

// Octets: the largest legal size that fits beside the headers. The MTU of a loopback interface is
// no limit in practice.
inline uint32_t payload_mtu_for(const io::Interface& interface) {
  if (interface.is_loopback()) return wire::kPayloadMtuMax;
  return std::max(wire::payload_for_path(interface.mtu_bytes), wire::kPayloadMtuMin);
}

// The smallest MTU of an interface that carries the smallest payload.
inline constexpr uint32_t kMtuMin = wire::kPayloadMtuMin + wire::kHeadersMax;

// The value that a domain states in its addresses.
struct OwnPayload {
  uint32_t network = 0;  // octets, toward other hosts: by interface, or FI_UET_PAYLOAD_MTU
  uint32_t host = 0;     // toward processes of this host, and the overall maximum
};

// Payload of packets to the peer with that address: the maximum that both ends and the route allow.
// 0: the route is too small for any packet.
inline uint32_t agree_payload(const OwnPayload& own, const UetAddress& peer,
                              const io::Route& route) {
  uint32_t theirs = peer.payload_mtu;
  if (route.is_local) theirs = std::max(theirs, uint32_t{peer.payload_host});
  // A peer that states nothing is taken to be as this end is.
  if (theirs == 0) theirs = route.is_local ? own.host : own.network;
  const uint32_t agreed = wire::payload_within(std::min(theirs, own.host));
  if (route.mtu_bytes == 0) return std::min(agreed, own.network);
  return std::min(agreed, uint32_t{wire::payload_for_path(route.mtu_bytes)});
}

}  // namespace uet::prov
