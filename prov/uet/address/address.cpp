// Encoding and decoding of UET addresses; see address.h.
#include "prov/uet/address/address.h"

#include "prov/uet/api/compat.h"

#include "io/socket.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

namespace uet::prov {
namespace {

// The exchanged form, multi-octet fields big-endian [LF-006]:
//   0 version   1 family     2 flags         4 capabilities   6 PIDonFEP    8 start RI
//  10 RI count 12 initiator ID               16 FA (16 octets)
//  32 "UET", 0              36 UDP port     38 payload MTU / 256    39 on one host / 256
enum Offset : size_t {
  kVersionAt = 0,
  kFamilyAt = 1,
  kFlagsAt = 2,
  kCapabilitiesAt = 4,
  kPidAt = 6,
  kRiAt = 8,
  kRiCountAt = 10,
  kInitiatorAt = 12,
  kFaAt = 16,
  kMagicAt = 32,
  kPortAt = 36,
  kMtuAt = 38,
  kHostMtuAt = 39,
};
// [LF-004]
enum Flag : uint16_t {
  kCapabilitiesValid = 1 << 0,
  kFaValid = 1 << 1,
  kPidValid = 1 << 2,
  kRiValid = 1 << 3,
  kInitiatorValid = 1 << 4,
  kAbsolute = 1 << 5,
  kIpv6 = 1 << 6,
};
constexpr char kMagic[4] = {'U', 'E', 'T', 0};
constexpr uint32_t kMtuUnit = 256;
constexpr uint32_t kTellingMark = 0x5A;  // marks initiator IDs that contain an address; 7 bits
constexpr std::string_view kScheme = "fi_addr_uet://";

uint32_t get(const uint8_t* octets, size_t at, unsigned width) {
  uint32_t value = 0;
  for (unsigned i = 0; i < width; ++i) value = (value << 8) | octets[at + i];
  return value;
}

void put(std::string& octets, size_t at, unsigned width, uint32_t value) {
  for (unsigned i = 0; i < width; ++i) {
    octets[at + i] = static_cast<char>(value >> (8 * (width - 1 - i)));
  }
}

bool is_own_form(uint32_t format) { return format == FI_FORMAT_UNSPEC || format == kAddrUet; }

// The resource indices of the address are a range of 12-bit numbers. [LF-003]
bool is_plausible(const UetAddress& a) {
  return a.pid <= kFieldMax && a.ri + a.ri_count <= kFieldMax + 1 && (!a.has_ri || a.ri != 0);
}

Result<UetAddress> read_own(const uint8_t* octets, size_t bytes) {
  if (bytes < kUetAddressBytes) return Errc::invalid;
  if (octets[kVersionAt] != 0 || std::memcmp(octets + kMagicAt, kMagic, sizeof kMagic) != 0) {
    return Errc::invalid;
  }
  const uint32_t flags = get(octets, kFlagsAt, 2);
  UetAddress a;
  if ((flags & kFaValid) != 0) {
    const uint8_t family = octets[kFamilyAt];
    if (family != ((flags & kIpv6) != 0 ? 6 : 4)) return Errc::invalid;
    a.fa.family = FabricAddress::Family{family};
    std::memcpy(a.fa.ip.data(), octets + kFaAt, a.fa.ip_length());
    if (const uint32_t port = get(octets, kPortAt, 2); port != 0) {
      a.fa.port = static_cast<uint16_t>(port);
    }
  }
  a.has_pid = (flags & kPidValid) != 0;
  a.has_ri = (flags & kRiValid) != 0;
  a.has_initiator = (flags & kInitiatorValid) != 0;
  a.absolute = (flags & kAbsolute) != 0;
  if (a.has_pid) a.pid = static_cast<uint16_t>(get(octets, kPidAt, 2));
  if (a.has_ri) {
    a.ri = static_cast<uint16_t>(get(octets, kRiAt, 2));
    a.ri_count = static_cast<uint16_t>(get(octets, kRiCountAt, 2));
  }
  if (a.has_initiator) a.initiator_id = get(octets, kInitiatorAt, 4);
  if ((flags & kCapabilitiesValid) != 0) {
    a.capabilities = static_cast<uint16_t>(get(octets, kCapabilitiesAt, 2));
  }
  a.payload_mtu = static_cast<uint16_t>(octets[kMtuAt] * kMtuUnit);
  a.payload_host = static_cast<uint16_t>(octets[kHostMtuAt] * kMtuUnit);
  if (!is_plausible(a)) return Errc::invalid;
  return a;
}

std::string write_own(const UetAddress& a) {
  std::string octets(kUetAddressBytes, '\0');
  uint32_t flags = 0;
  if (a.absolute) flags |= kAbsolute;
  if (a.fa.valid()) {
    flags |= kFaValid;
    if (a.fa.family == FabricAddress::Family::ipv6) flags |= kIpv6;
    octets[kFamilyAt] = static_cast<char>(a.fa.family);
    std::memcpy(&octets[kFaAt], a.fa.ip.data(), a.fa.ip_length());
    if (a.fa.port != kUetPort) put(octets, kPortAt, 2, a.fa.port);
  }
  if (a.has_pid) flags |= kPidValid;
  if (a.has_ri) flags |= kRiValid;
  if (a.has_initiator) flags |= kInitiatorValid;
  if (a.capabilities != 0) flags |= kCapabilitiesValid;
  put(octets, kFlagsAt, 2, flags);
  put(octets, kCapabilitiesAt, 2, a.capabilities);
  put(octets, kPidAt, 2, a.pid);
  put(octets, kRiAt, 2, a.ri);
  put(octets, kRiCountAt, 2, a.ri_count);
  put(octets, kInitiatorAt, 4, a.initiator_id);
  std::memcpy(&octets[kMagicAt], kMagic, sizeof kMagic);
  octets[kMtuAt] = static_cast<char>(a.payload_mtu / kMtuUnit);
  octets[kHostMtuAt] = static_cast<char>(a.payload_host / kMtuUnit);
  return octets;
}

// Takes the text up to one of `stops` off the front of `rest`.
std::string_view take_until(std::string_view& rest, std::string_view stops) {
  const size_t end = std::min(rest.find_first_of(stops), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(end);
  return taken;
}

bool take(std::string_view& rest, std::string_view prefix) {
  if (!rest.starts_with(prefix)) return false;
  rest.remove_prefix(prefix.size());
  return true;
}

template <class U>
bool parse_number(std::string_view text, U max, U& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && out <= max;
}

// "/<number>" or "/*"; nothing at all counts as "*".
template <class U>
bool take_field(std::string_view& rest, U max, bool& stated, U& value) {
  if (!take(rest, "/")) return rest.empty() || rest.front() == '?';
  const std::string_view text = take_until(rest, "/?");
  stated = text != "*";
  return !stated || parse_number(text, max, value);
}

bool take_ip(std::string_view& rest, FabricAddress& fa) {
  const bool bracketed = take(rest, "[");
  const std::string ip(take_until(rest, bracketed ? "]" : ":/?"));
  if (bracketed && !take(rest, "]")) return false;
  fa.family = bracketed ? FabricAddress::Family::ipv6 : FabricAddress::Family::ipv4;
  if (inet_pton(bracketed ? AF_INET6 : AF_INET, ip.c_str(), fa.ip.data()) != 1) return false;
  if (!take(rest, ":")) return true;
  return parse_number<uint16_t>(take_until(rest, "/?"), UINT16_MAX, fa.port) && fa.port != 0;
}

bool take_option(std::string_view text, UetAddress& a) {
  if (text == "mode=abs") return a.absolute = true;
  if (text == "mode=rel") return true;
  if (!take(text, "mtu=")) return false;
  return parse_number<uint16_t>(text, 0xFF00, a.payload_mtu) && a.payload_mtu % kMtuUnit == 0;
}

Result<UetAddress> read_string(const char* data, size_t bytes) {
  std::string_view rest(data, strnlen(data, bytes));
  UetAddress a;
  if (!take(rest, kScheme) || !take_ip(rest, a.fa)) return Errc::invalid;
  if (!take_field(rest, kFieldMax, a.has_pid, a.pid) ||
      !take_field(rest, kFieldMax, a.has_ri, a.ri) ||
      !take_field(rest, UINT32_MAX, a.has_initiator, a.initiator_id)) {
    return Errc::invalid;
  }
  a.ri_count = a.has_ri ? 1 : 0;
  if (!rest.empty() && !take(rest, "?")) return Errc::invalid;
  while (!rest.empty()) {
    if (!take_option(take_until(rest, "&"), a)) return Errc::invalid;
    if (!rest.empty() && !(take(rest, "&") && !rest.empty())) return Errc::invalid;
  }
  if (!is_plausible(a)) return Errc::invalid;
  return a;
}

Result<UetAddress> read_sockaddr(uint32_t format, const void* data, size_t bytes) {
  io::SockAddr sa{};
  sa_family_t family = 0;
  if (bytes < sizeof family) return Errc::invalid;
  std::memcpy(&family, static_cast<const char*>(data) + offsetof(sockaddr, sa_family),
              sizeof family);
  const bool v4 = family == AF_INET && format != FI_SOCKADDR_IN6;
  const bool v6 = family == AF_INET6 && format != FI_SOCKADDR_IN;
  if (!v4 && !v6) return Errc::invalid;
  const size_t size = v4 ? sizeof sa.v4 : sizeof sa.v6;
  if (bytes < size) return Errc::invalid;
  std::memcpy(&sa, data, size);

  UetAddress a;
  a.fa = io::from_sockaddr(sa);
  a.fa.port = kUetPort;  // the port of a socket address is a service number [LF-008]
  const uint16_t number = ntohs(v4 ? sa.v4.sin_port : sa.v6.sin6_port);
  if (number != 0) apply_service_number(number, a);
  return a;
}

std::string write_sockaddr(uint32_t format, const UetAddress& a) {
  const bool v6 = a.fa.family == FabricAddress::Family::ipv6;
  if (!a.fa.valid() || format == (v6 ? FI_SOCKADDR_IN : FI_SOCKADDR_IN6)) return {};
  if (a.ri > kBaseRi + UINT16_MAX / (kFieldMax + 1)) return {};  // no port says that
  io::SockAddr sa{};
  FabricAddress fa = a.fa;
  fa.port = service_number(a);
  const socklen_t length = io::to_sockaddr(fa, sa);
  return {reinterpret_cast<const char*>(&sa), length};
}

}  // namespace

bool is_supported_format(uint32_t addr_format) {
  return is_own_form(addr_format) || addr_format == FI_ADDR_STR || addr_format == FI_SOCKADDR ||
         addr_format == FI_SOCKADDR_IN || addr_format == FI_SOCKADDR_IN6;
}

size_t address_bytes(uint32_t addr_format, bool ipv6) {
  if (is_own_form(addr_format)) return kUetAddressBytes;
  if (addr_format == FI_SOCKADDR_IN) return sizeof(sockaddr_in);
  if (addr_format == FI_SOCKADDR_IN6) return sizeof(sockaddr_in6);
  if (addr_format == FI_SOCKADDR) return ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  return 0;
}

Result<UetAddress> read_address(uint32_t addr_format, const void* data, size_t bytes) {
  if (data == nullptr || !is_supported_format(addr_format)) return Errc::invalid;
  if (is_own_form(addr_format)) return read_own(static_cast<const uint8_t*>(data), bytes);
  if (addr_format == FI_ADDR_STR) return read_string(static_cast<const char*>(data), bytes);
  return read_sockaddr(addr_format, data, bytes);
}

std::string write_address(uint32_t addr_format, const UetAddress& address) {
  if (is_own_form(addr_format)) return write_own(address);
  if (addr_format == FI_ADDR_STR) {
    std::string text = to_string(address);
    text.push_back('\0');
    return text;
  }
  return write_sockaddr(addr_format, address);
}

bool copy_address(const std::string& octets, void* data, size_t* length) {
  const size_t room = *length;
  if (data != nullptr) std::memcpy(data, octets.data(), std::min(room, octets.size()));
  *length = octets.size();
  return room >= octets.size();
}

std::string to_string(const UetAddress& a) {
  const bool v6 = a.fa.family == FabricAddress::Family::ipv6;
  char ip[INET6_ADDRSTRLEN] = "0.0.0.0";
  if (a.fa.valid()) inet_ntop(v6 ? AF_INET6 : AF_INET, a.fa.ip.data(), ip, sizeof ip);
  const auto field = [](bool stated, uint32_t value) {
    return "/" + (stated ? std::to_string(value) : std::string("*"));
  };
  std::string text(kScheme);
  text += v6 ? "[" + std::string(ip) + "]" : std::string(ip);
  if (a.fa.port != kUetPort) text += ":" + std::to_string(a.fa.port);
  text += field(a.has_pid, a.pid) + field(a.has_ri, a.ri) + field(a.has_initiator, a.initiator_id);
  if (a.absolute) text += "?mode=abs";
  if (a.payload_mtu != 0) text += (a.absolute ? "&mtu=" : "?mtu=") + std::to_string(a.payload_mtu);
  return text;
}

void apply_service_number(uint16_t number, UetAddress& address) {
  address.has_pid = address.has_ri = address.has_initiator = true;
  address.pid = number % (kFieldMax + 1);
  address.ri = static_cast<uint16_t>(kBaseRi + number / (kFieldMax + 1));
  address.ri_count = 1;
  address.initiator_id = number;
}

//  0                   1                   2                   3
//  | mark (7)    |A| resource index (12)   | PIDonFEP (12)         |
uint32_t telling_initiator(uint16_t pid, uint16_t ri, bool absolute) {
  return kTellingMark << 25 | uint32_t{absolute} << 24 | uint32_t{ri} << 12 | pid;
}

void apply_initiator(uint32_t addr_format, UetAddress& address) {
  const bool is_socket = !is_own_form(addr_format) && addr_format != FI_ADDR_STR;
  const uint32_t id = address.initiator_id;
  if (id >> 25 == kTellingMark) {
    address.pid = id & kFieldMax;
    address.ri = id >> 12 & kFieldMax;
    address.absolute = (id >> 24 & 1) != 0;
  } else if (is_socket && id <= UINT16_MAX) {
    apply_service_number(static_cast<uint16_t>(id), address);
  } else {
    return;
  }
  address.has_pid = true;
  address.has_ri = address.ri != 0;
  address.ri_count = address.has_ri ? 1 : 0;
}

uint16_t service_number(const UetAddress& address) {
  if (!address.has_pid) return 0;
  const uint32_t ri = address.has_ri && address.ri >= kBaseRi ? address.ri - kBaseRi : 0;
  return static_cast<uint16_t>(ri * (kFieldMax + 1) + address.pid);
}

}  // namespace uet::prov
