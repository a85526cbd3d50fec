// Helpers of the wire tests: hex to octets and back, parse and emit in one step.
#pragma once

#include "wire/reader.h"
#include "wire/writer.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace uet::wire::test {

using Octets = std::vector<std::byte>;

// Hex digits, spaces ignored.
inline Octets octets_of(std::string_view hex) {
  Octets out;
  int high = -1;
  for (const char c : hex) {
    if (c == ' ') continue;
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    if (high < 0) {
      high = digit;
    } else {
      out.push_back(static_cast<std::byte>(high * 16 + digit));
      high = -1;
    }
  }
  return out;
}

inline std::string hex_of(std::span<const std::byte> octets) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const std::byte b : octets) {
    out += kDigits[static_cast<unsigned>(b) >> 4];
    out += kDigits[static_cast<unsigned>(b) & 0xF];
  }
  return out;
}

// The output of emit().
template <class Header>
Octets emitted(const Header& header) {
  Octets out(256);
  Writer w(out);
  header.emit(w);
  out.resize(w.position());
  return out;
}

}  // namespace uet::wire::test
