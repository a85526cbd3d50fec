// The authenticated sender of a packet: an SSI, or an IP address. [TSS-011..014]
#pragma once

#include "base/hash.h"
#include "wire/ip_address.h"

#include <cstdint>

namespace uet::tss {

struct Identity {
  bool is_ssi = false;
  uint32_t ssi = 0;
  wire::IpAddress address;  // without an SSI

  static Identity of(uint32_t ssi) { return {true, ssi, {}}; }
  static Identity of(const wire::IpAddress& address) { return {false, 0, address}; }
  bool operator==(const Identity&) const = default;
};

inline uint64_t hash_of(const Identity& i, uint64_t seed) {
  const uint64_t of_address = hash64(std::as_bytes(std::span(i.address.octets)), seed);
  return hash64(of_address, uint64_t{i.ssi} << 1 | uint64_t{i.is_ssi}, seed);
}

// Key of the receivers' tables: an installed key (each has a unique serial number, so that state of
// an older key with the same SDI and AN does not match) and a source.
struct SourceName {
  uint32_t serial = 0;
  Identity identity;
  bool operator==(const SourceName&) const = default;
};
inline uint64_t hash_of(const SourceName& s, uint64_t seed) {
  return hash64(hash_of(s.identity, seed), s.serial, seed);
}

}  // namespace uet::tss
