// The addresses that this FEP listens to: a list of IP prefixes, or all. Asked once per datagram,
// before anything else is done with it. No protection against forged sources; TSS is that.
// [security.md]
#pragma once

#include "wire/ip_address.h"

#include "base/packet.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace uet::fep {

class AllowList {
 public:
  static constexpr uint32_t kPrefixesMax = 32;

  // "10.0.0.0/8,2001:db8::/32,192.168.1.7": an address without a length is one host. Bits behind
  // the length must be zero; other bits are probably a mistake. Errc::invalid: not such a list, or
  // more than kPrefixesMax.
  static Result<AllowList> parse(std::string_view text);

  // An empty list admits everybody.
  bool admits(const FabricAddress& from) const { return count_ == 0 || contains(from); }
  uint32_t size() const { return count_; }

 private:
  struct Prefix {
    wire::IpAddress address;
    uint8_t bits = 0;
  };

  static Result<Prefix> parse_prefix(std::string_view text);
  bool contains(const FabricAddress& from) const;

  uint32_t count_ = 0;
  std::array<Prefix, kPrefixesMax> prefixes_{};
};

}  // namespace uet::fep
