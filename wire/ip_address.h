// An IPv4 or IPv6 address as a value, and its text. No socket types here.
#pragma once

#include "wire/text.h"

#include "base/packet.h"
#include "base/result.h"

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

namespace uet::wire {

enum class IpFamily : uint8_t {
  v4 = 4,
  v6 = 6
};

// Octets in network order; IPv4 uses the first four, the rest is 0.
struct IpAddress {
  IpFamily family = IpFamily::v4;
  std::array<uint8_t, 16> octets{};

  // 192.168.1.1 is v4(0xC0A80101).
  static IpAddress v4(uint32_t host_order) {
    IpAddress a;
    for (unsigned i = 0; i < 4; ++i) {
      a.octets[i] = static_cast<uint8_t>(host_order >> (24 - 8 * i));
    }
    return a;
  }
  static IpAddress v6(const std::array<uint8_t, 16>& network_order) {
    return {IpFamily::v6, network_order};
  }
  // That of a Fabric Address.
  static IpAddress of(const FabricAddress& address) {
    return {address.family == FabricAddress::Family::ipv6 ? IpFamily::v6 : IpFamily::v4,
            address.ip};
  }

  uint32_t size() const { return family == IpFamily::v4 ? 4 : 16; }
  auto operator<=>(const IpAddress&) const = default;
};

// Appends 192.168.1.1 or, shortened as is usual (RFC 5952), 2001:db8::1.
void print(Text& text, const IpAddress& address);

// The reverse. Errc::invalid for anything else, also for zone suffixes and embedded IPv4.
Result<IpAddress> parse_ip_address(std::string_view text);

}  // namespace uet::wire
