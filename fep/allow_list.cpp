// Reading prefixes and comparing addresses with them.
#include "fep/allow_list.h"

#include <algorithm>
#include <charconv>

namespace uet::fep {
namespace {

// Whether the first `bits` bits are the same.
bool same_prefix(const std::array<uint8_t, 16>& a, const std::array<uint8_t, 16>& b,
                 uint32_t bits) {
  const uint32_t whole = bits / 8;
  if (!std::equal(a.begin(), a.begin() + whole, b.begin())) return false;
  const uint32_t rest = bits % 8;
  return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

// Whether no bit behind the first `bits` is set.
bool is_bare(const wire::IpAddress& address, uint32_t bits) {
  for (uint32_t bit = bits; bit < address.size() * 8; ++bit) {
    if ((address.octets[bit / 8] >> (7 - bit % 8) & 1) != 0) return false;
  }
  return true;
}

}  // namespace

Result<AllowList::Prefix> AllowList::parse_prefix(std::string_view text) {
  const size_t slash = text.find('/');
  Prefix prefix;
  prefix.address = UET_TRY(wire::parse_ip_address(text.substr(0, slash)));
  const uint32_t width = prefix.address.size() * 8;
  uint32_t bits = width;
  if (slash != std::string_view::npos) {
    const std::string_view length = text.substr(slash + 1);
    const char* const end = length.data() + length.size();
    const auto [stop, error] = std::from_chars(length.data(), end, bits);
    if (error != std::errc{} || stop != end || bits > width) return Errc::invalid;
  }
  if (!is_bare(prefix.address, bits)) return Errc::invalid;
  prefix.bits = static_cast<uint8_t>(bits);
  return prefix;
}

Result<AllowList> AllowList::parse(std::string_view text) {
  AllowList list;
  for (;;) {
    const size_t comma = text.find(',');
    if (list.count_ == kPrefixesMax) return Errc::invalid;
    list.prefixes_[list.count_++] = UET_TRY(parse_prefix(text.substr(0, comma)));
    if (comma == std::string_view::npos) return list;
    text.remove_prefix(comma + 1);
  }
}

bool AllowList::contains(const FabricAddress& from) const {
  const bool ipv6 = from.family == FabricAddress::Family::ipv6;
  for (uint32_t i = 0; i < count_; ++i) {
    const Prefix& prefix = prefixes_[i];
    if ((prefix.address.family == wire::IpFamily::v6) != ipv6) continue;
    if (same_prefix(prefix.address.octets, from.ip, prefix.bits)) return true;
  }
  return false;
}

}  // namespace uet::fep
