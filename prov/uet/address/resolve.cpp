// Names, services and routes; see resolve.h.
#include "prov/uet/address/resolve.h"

#include "io/socket.h"

#include <netdb.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>

namespace uet::prov {
namespace {

bool parse_u16(std::string_view text, uint16_t max, uint16_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && out <= max;
}

}  // namespace

Result<void> apply_service(const char* service, UetAddress& address) {
  const std::string_view text(service);
  uint16_t number = 0;
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    if (!parse_u16(text, UINT16_MAX, number)) return Errc::invalid;
    apply_service_number(number, address);
    return {};
  }
  uint16_t ri = 0;
  if (!parse_u16(text.substr(0, colon), kFieldMax, number) ||
      !parse_u16(text.substr(colon + 1), kFieldMax, ri) || ri < kBaseRi) {
    return Errc::invalid;
  }
  apply_service_number(number, address);
  address.ri = ri;
  address.initiator_id = uint32_t{ri - 1u} * (kFieldMax + 1) + number;
  return {};
}

std::vector<FabricAddress> resolve_node(const char* node, bool numeric) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = numeric ? AI_NUMERICHOST : 0;
  addrinfo* list = nullptr;
  if (getaddrinfo(node, nullptr, &hints, &list) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);

  std::vector<FabricAddress> found;
  for (const addrinfo* ai = list; ai != nullptr; ai = ai->ai_next) {
    io::SockAddr sa{};
    if (ai->ai_addrlen > sizeof sa) continue;
    std::memcpy(&sa, ai->ai_addr, ai->ai_addrlen);
    FabricAddress fa = io::from_sockaddr(sa);
    fa.port = kUetPort;
    if (fa.valid() && std::find(found.begin(), found.end(), fa) == found.end()) {
      found.push_back(fa);
    }
  }
  std::stable_partition(found.begin(), found.end(), [](const FabricAddress& fa) {
    return fa.family == FabricAddress::Family::ipv4;
  });
  return found;
}

Result<FabricAddress> local_address_toward(const FabricAddress& remote) {
  const io::Fd fd = io::open_udp_socket(remote);
  if (!fd) return Errc::io;
  io::SockAddr sa{};
  // Connecting a datagram socket sends nothing; the kernel only looks up the route.
  if (connect(fd.get(), &sa.any, io::to_sockaddr(remote, sa)) != 0) return Errc::not_found;
  socklen_t length = sizeof sa;
  if (getsockname(fd.get(), &sa.any, &length) != 0) return Errc::io;
  FabricAddress local = io::from_sockaddr(sa);
  local.port = kUetPort;
  return local;
}

}  // namespace uet::prov
