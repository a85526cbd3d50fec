// The outside of a packet as far as its seal covers it: addresses, and what stands between the IP
// header and the security header. Both ends must see the same: no rewriting of addresses or ports
// between them. [TSS-017, TSS-021, TSS-022]
#pragma once

#include "wire/ip.h"
#include "wire/ip_address.h"
#include "wire/writer.h"

#include <array>
#include <cstdint>
#include <span>

namespace uet::tss {

enum class Carriage : uint8_t {
  udp,
  native
};

// The header in front of the security header: 8 octets of UDP with a checksum of 0, or 4 octets
// with the entropy value. [TSS-008, TSS-019, TSS-025]
struct TransportHeader {
  std::array<std::byte, 8> octets{};
  uint32_t size = 0;
  std::span<const std::byte> span() const { return std::span(octets).first(size); }
};

struct Route {
  wire::IpAddress source;
  wire::IpAddress destination;
  Carriage carriage = Carriage::udp;
  uint16_t entropy = 0;           // entropy value, or UDP source port [TSS-022]
  uint16_t destination_port = 0;  // of UDP
  uint16_t reserved = 0;          // native: what follows the entropy value; a sender writes 0

  // `sealed_bytes`: security header, content and ICV, which the length of UDP counts. [TSS-006]
  TransportHeader transport(size_t sealed_bytes) const {
    TransportHeader header;
    wire::Writer w(header.octets);
    w.u16(entropy);
    if (carriage == Carriage::native) {
      w.u16(reserved);
    } else {
      w.u16(destination_port);
      w.u16(static_cast<uint16_t>(wire::UdpHeader::kSize + sealed_bytes));
      w.u16(0);
    }
    header.size = static_cast<uint32_t>(w.position());
    return header;
  }
};

}  // namespace uet::tss
