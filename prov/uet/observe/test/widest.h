// Values with the longest possible texts: they bound the length of an answer.
#pragma once

#include "base/packet.h"
#include "base/time.h"

#include <cstdint>
#include <limits>
#include <string>

namespace uet::prov {

inline constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max();
inline constexpr Duration kLongest = Duration::nanoseconds(std::numeric_limits<int64_t>::min());

inline FabricAddress longest_address() {
  FabricAddress a;
  a.family = FabricAddress::Family::ipv6;
  a.ip.fill(0xFF);
  a.port = 65535;
  a.scope_id = kMost;
  return a;
}

inline size_t occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace uet::prov
