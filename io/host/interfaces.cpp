// Reading the interface list with getifaddrs and the speeds from sysfs.
#include "io/host/interfaces.h"

#include "io/socket.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <net/if_arp.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <memory>
#include <tuple>

namespace uet::io {
namespace {

struct FreeIfaddrs {
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

uint32_t read_mtu(const std::string& name) {
  const Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  if (!fd || ::ioctl(fd.get(), SIOCGIFMTU, &request) != 0 || request.ifr_mtu < 0) return 0;
  return static_cast<uint32_t>(request.ifr_mtu);
}

// /sys/class/net/*/speed holds Mb/s, or -1, or refuses to be read.
uint64_t read_speed(const std::string& name) {
  const Fd fd(::open(("/sys/class/net/" + name + "/speed").c_str(), O_RDONLY | O_CLOEXEC));
  char text[32];
  const ssize_t length = fd ? ::read(fd.get(), text, sizeof text) : -1;
  int64_t mbps = 0;
  if (length > 0) std::from_chars(text, text + length, mbps);
  return mbps > 0 ? static_cast<uint64_t>(mbps) * 1'000'000 : 0;
}

uint8_t prefix_of(const sockaddr* mask) {
  if (mask == nullptr) return 0;
  SockAddr copy{};
  const bool v6 = mask->sa_family == AF_INET6;
  std::memcpy(&copy, mask, v6 ? sizeof copy.v6 : sizeof copy.v4);
  const FabricAddress bits = from_sockaddr(copy);
  int total = 0;
  for (const uint8_t octet : bits.ip) total += std::popcount(octet);
  return static_cast<uint8_t>(total);
}

void fill_link(const ifaddrs* list, Interface& out) {
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_PACKET) continue;
    if (out.name != at->ifa_name) continue;
    sockaddr_ll link;
    std::memcpy(&link, at->ifa_addr, sizeof link);
    if (link.sll_hatype == ARPHRD_LOOPBACK) out.link = LinkType::loopback;
    if (link.sll_hatype == ARPHRD_ETHER) {
      out.link = LinkType::ethernet;
      if (link.sll_halen == out.mac.size()) std::memcpy(out.mac.data(), link.sll_addr, 6);
    }
  }
}

auto rank(const Interface& i) {
  return std::tuple(i.is_loopback(), i.is_link_local(), i.index, i.address.family, i.address.ip);
}

bool same_prefix(const FabricAddress& a, const FabricAddress& b, uint32_t bits) {
  for (uint32_t at = 0; at < bits; ++at) {
    const unsigned mask = 0x80u >> (at % 8);
    if ((a.ip[at / 8] & mask) != (b.ip[at / 8] & mask)) return false;
  }
  return true;
}

}  // namespace

std::vector<Interface> list_interfaces() {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return {};
  const std::unique_ptr<ifaddrs, FreeIfaddrs> list(raw);

  std::vector<Interface> out;
  for (const ifaddrs* at = raw; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || (at->ifa_flags & IFF_UP) == 0) continue;
    const int family = at->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;

    SockAddr address{};
    std::memcpy(&address, at->ifa_addr, family == AF_INET ? sizeof address.v4 : sizeof address.v6);
    Interface entry;
    entry.name = at->ifa_name;
    entry.index = ::if_nametoindex(at->ifa_name);
    entry.address = from_sockaddr(address);
    entry.address.port = kUetPort;
    entry.prefix_bits = prefix_of(at->ifa_netmask);
    entry.mtu_bytes = read_mtu(entry.name);
    entry.speed_bps = read_speed(entry.name);
    entry.is_virtual = ::access(("/sys/class/net/" + entry.name + "/device").c_str(), F_OK) != 0;
    fill_link(raw, entry);
    if ((at->ifa_flags & IFF_LOOPBACK) != 0) entry.link = LinkType::loopback;
    out.push_back(std::move(entry));
  }
  std::sort(out.begin(), out.end(),
            [](const Interface& a, const Interface& b) { return rank(a) < rank(b); });
  return out;
}

const Interface* find_interface(const std::vector<Interface>& interfaces,
                                const FabricAddress& address) {
  for (const Interface& i : interfaces) {
    const FabricAddress& a = i.address;
    if (a.family == address.family && a.ip == address.ip &&
        (a.scope_id == address.scope_id || a.scope_id == 0)) {
      return &i;
    }
  }
  for (const Interface& i : interfaces) {
    if (!i.is_loopback() || i.address.family != address.family) continue;
    if (same_prefix(i.address, address, i.prefix_bits)) return &i;
  }
  return nullptr;
}

}  // namespace uet::io
