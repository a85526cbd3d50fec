// Common parts of the tests of packets without UDP: the octets that another raw socket sees, and
// the sum by its definition.
#pragma once

#include "io/frame/frame.h"
#include "io/test/udp_testing.h"

#include <poll.h>

#include <cstdint>
#include <vector>

namespace uet::io {

// Octets on the wire behind the IP header, as another raw socket sees them.
inline std::vector<uint8_t> next_octets(const Fd& socket, bool ipv6) {
  pollfd waiting{socket.get(), POLLIN, 0};
  if (::poll(&waiting, 1, 1000) != 1) return {};
  std::vector<uint8_t> octets(2000);
  const ssize_t got = ::recv(socket.get(), octets.data(), octets.size(), 0);
  octets.resize(got > 0 ? static_cast<size_t>(got) : 0);
  if (!ipv6) octets.erase(octets.begin(), octets.begin() + kIpv4Header);
  return octets;
}

// CRC-32C one bit at a time, over addresses and what follows the IP header.
inline uint32_t crc_by_definition(const FabricAddress& from, const FabricAddress& to,
                                  const std::vector<uint8_t>& octets) {
  std::vector<uint8_t> all(from.ip.begin(), from.ip.begin() + from.ip_length());
  all.insert(all.end(), to.ip.begin(), to.ip.begin() + to.ip_length());
  all.insert(all.end(), octets.begin(), octets.end());
  uint32_t sum = 0xFFFFFFFF;
  for (const uint8_t octet : all) {
    sum ^= octet;
    for (int i = 0; i < 8; ++i) sum = (sum >> 1) ^ ((sum & 1U) != 0 ? 0x82F63B78U : 0U);
  }
  return ~sum;
}

// The octets and behind them their CRC, the least significant octet first. [WIRE-092]
inline std::vector<uint8_t> with_trailer(const FabricAddress& from, const FabricAddress& to,
                                         std::vector<uint8_t> octets) {
  const uint32_t crc = crc_by_definition(from, to, octets);
  for (int i = 0; i < 4; ++i) octets.push_back(static_cast<uint8_t>(crc >> (8 * i)));
  return octets;
}

inline UdpOptions with_crc(UdpOptions options) {
  options.crc = true;
  options.cut_dscps = uint64_t{1} << 16 | uint64_t{1} << 18;
  return options;
}

}  // namespace uet::io
