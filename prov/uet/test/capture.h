// Packets of a capture that the provider wrote (FI_UET_PCAP), for tests that see libfabric's
// interface only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

namespace uet::prov::test {

// Calls fn(octets) for each packet of that pcapng file, from its IP header on.
template <class Fn>
void for_each_packet(const char* path, Fn&& fn) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> octets{std::istreambuf_iterator<char>(file), {}};
  for (size_t at = 0; at + 12 <= octets.size();) {
    uint32_t block[7] = {};  // type, length, and of a packet: interface, time, time, captured
    std::memcpy(block, octets.data() + at, std::min(sizeof(block), octets.size() - at));
    if (block[1] < 12 || block[1] > octets.size() - at) break;
    if (block[0] == 6 && block[1] > 28) {
      const auto* const first = reinterpret_cast<const uint8_t*>(octets.data()) + at + 28;
      fn(std::span(first, std::min<size_t>(block[5], block[1] - 28)));
    }
    at += block[1];
  }
}

}  // namespace uet::prov::test
