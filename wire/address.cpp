// Octets and text of the UET libfabric address.
#include "wire/address.h"

#include "wire/defaults.h"

#include <charconv>
#include <cstring>

namespace uet::wire {

namespace {

constexpr uint32_t kMagic = 0x55455400;  // "UET" and a zero
constexpr uint32_t kIndexLimit = 1U << 12;
constexpr std::string_view kPrefix = "fi_addr_uet://";
constexpr std::string_view kAbsoluteSuffix = "?mode=abs";

// Takes decimal digits off the front of `text`.
bool take_number(std::string_view& text, uint32_t most, uint32_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value > most) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool take_char(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// Takes an address, in brackets if it is IPv6.
bool take_ip(std::string_view& text, IpAddress& ip) {
  const bool brackets = take_char(text, '[');
  const size_t end = text.find_first_of(brackets ? "]" : ":/");
  if (end == std::string_view::npos) return false;
  const auto parsed = parse_ip_address(text.substr(0, end));
  if (!parsed.ok()) return false;
  ip = *parsed;
  text.remove_prefix(end);
  if (brackets) return take_char(text, ']') && ip.family == IpFamily::v6;
  return ip.family == IpFamily::v4;
}

}  // namespace

const char* name(AddressError e) {
  switch (e) {
    case AddressError::truncated:
      return "truncated";
    case AddressError::version:
      return "version";
    case AddressError::family:
      return "family";
    case AddressError::magic:
      return "magic";
    case AddressError::pid_on_fep:
      return "pid_on_fep";
    case AddressError::resource_index:
      return "resource_index";
    case AddressError::text:
      return "text";
  }
  return "reserved";
}

Result<UetAddress, AddressError> UetAddress::parse(Reader& r) {
  if (r.remaining() < kSize) return AddressError::truncated;
  const std::byte* p = r.peek(kSize);
  const uint8_t family = load_u8(p + 1);
  const uint16_t flags = load_u16(p + 2);
  const uint32_t resource_end = uint32_t{load_u16(p + 8)} + load_u16(p + 10);
  if (load_u8(p) != 0) return AddressError::version;
  if (load_u32(p + 32) != kMagic) return AddressError::magic;
  if (family != 4 && family != 6) return AddressError::family;
  if (((flags & kIpv6) != 0) != (family == 6)) return AddressError::family;
  if (load_u16(p + 6) >= kIndexLimit) return AddressError::pid_on_fep;
  if (load_u16(p + 8) >= kIndexLimit || resource_end > kIndexLimit) {
    return AddressError::resource_index;
  }
  UetAddress a;
  a.flags = static_cast<uint16_t>(flags & ~kIpv6);
  a.capabilities = load_u16(p + 4);
  a.pid_on_fep = PidOnFep(load_u16(p + 6));
  a.start_resource_index = ResourceIndex(load_u16(p + 8));
  a.resource_index_count = load_u16(p + 10);
  a.initiator_id = load_u32(p + 12);
  a.fabric_address.family = static_cast<IpFamily>(family);
  std::memcpy(a.fabric_address.octets.data(), p + 16, a.fabric_address.size());
  a.udp_port = load_u16(p + 36);
  a.payload_mtu_bytes = load_u8(p + 38) * kPayloadMtuUnit;
  r.skip(kSize);
  return a;
}

void UetAddress::emit(Writer& w) const {
  const bool v6 = fabric_address.family == IpFamily::v6;
  UET_ASSERT((flags & kIpv6) == 0);
  UET_ASSERT(payload_mtu_bytes % kPayloadMtuUnit == 0);
  UET_ASSERT(start_resource_index.value() + uint32_t{resource_index_count} <= kIndexLimit);
  w.u8(0);
  w.u8(static_cast<uint8_t>(fabric_address.family));
  w.u16(static_cast<uint16_t>(flags | (v6 ? kIpv6 : 0)));
  w.u16(capabilities);
  w.u16(static_cast<uint16_t>(put(pid_on_fep.value(), 0, 12)));
  w.u16(static_cast<uint16_t>(put(start_resource_index.value(), 0, 12)));
  w.u16(resource_index_count);
  w.u32(initiator_id);
  w.bytes(std::as_bytes(std::span(fabric_address.octets)));
  w.u32(kMagic);
  w.u16(udp_port);
  w.u8(static_cast<uint8_t>(put(payload_mtu_bytes / kPayloadMtuUnit, 0, 8)));
  w.u8(0);
}

size_t print(std::span<char> out, const UetAddress& a) {
  Text text(out);
  const bool v6 = a.fabric_address.family == IpFamily::v6;
  text.add("%s%s", kPrefix.data(), v6 ? "[" : "");
  print(text, a.fabric_address);
  if (v6) text.add("]");
  if (a.udp_port != 0) text.add(":%u", a.udp_port);
  text.add("/%u/%u/%u%s", a.pid_on_fep.value(), a.start_resource_index.value(), a.initiator_id,
           a.has(UetAddress::kAbsolute) ? kAbsoluteSuffix.data() : "");
  return text.length();
}

Result<UetAddress, AddressError> parse_uet_address(std::string_view text) {
  if (!text.starts_with(kPrefix)) return AddressError::text;
  text.remove_prefix(kPrefix.size());
  UetAddress a;
  uint32_t port = 0;
  uint32_t pid = 0;
  uint32_t index = 0;
  if (!take_ip(text, a.fabric_address)) return AddressError::text;
  if (take_char(text, ':') && !take_number(text, 0xFFFF, port)) return AddressError::text;
  const bool complete = take_char(text, '/') && take_number(text, kIndexLimit - 1, pid) &&
                        take_char(text, '/') && take_number(text, kIndexLimit - 1, index) &&
                        take_char(text, '/') && take_number(text, UINT32_MAX, a.initiator_id);
  if (!complete || (!text.empty() && text != kAbsoluteSuffix)) return AddressError::text;
  a.flags = UetAddress::kFabricAddressValid | UetAddress::kPidOnFepValid |
            UetAddress::kResourceIndexValid | UetAddress::kInitiatorIdValid;
  if (!text.empty()) a.flags |= UetAddress::kAbsolute;
  a.udp_port = static_cast<uint16_t>(port);
  a.pid_on_fep = PidOnFep(static_cast<uint16_t>(pid));
  a.start_resource_index = ResourceIndex(static_cast<uint16_t>(index));
  a.resource_index_count = 1;
  return a;
}

}  // namespace uet::wire
