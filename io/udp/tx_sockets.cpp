// Opening, connecting and setting up the sockets that the UDP backend sends from.
#include "io/udp/tx_sockets.h"

#include "base/assert.h"

#include <linux/filter.h>
#include <netinet/udp.h>
#include <sys/epoll.h>

namespace uet::io {

void UdpTxSockets::configure(const Settings& settings, int epoll, int fallback) {
  UET_ASSERT(settings.entropy_values >= 1 && settings.entropy_values <= kEntropyMax);
  settings_ = settings;
  epoll_ = epoll;
  fallback_ = fallback;
}

bool UdpTxSockets::prepare(const Fd& socket, bool ipv6, uint32_t send_buffer_bytes) {
  if (send_buffer_bytes != 0) {
    // The system caps this; whatever it grants is fine.
    (void)set_option(socket, SOL_SOCKET, SO_SNDBUF, static_cast<int>(send_buffer_bytes));
  }
  // Never fragment [WIRE-010, WIRE-012]; keep the address with each error.
  if (ipv6) {
    return set_option(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO) &&
           set_option(socket, IPPROTO_IPV6, IPV6_RECVERR, 1);
  }
  return set_option(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) &&
         set_option(socket, IPPROTO_IP, IP_RECVERR, 1);
}

bool UdpTxSockets::deafen(const Fd& socket) {
  // Or the kernel would cut super-packets into datagrams first, only to drop each of them.
  (void)set_option(socket, IPPROTO_UDP, UDP_GRO, 1);
  sock_filter drop_all[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
  const sock_fprog program{1, drop_all};
  return ::setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

int UdpTxSockets::open_or_fallback(uint32_t index) {
  if ((failed_ >> index & 1) != 0) return fallback_;

  FabricAddress local = settings_.local;
  // Any free one, because no peer answers to it; or the next of the block.
  const uint16_t first = settings_.first_port;
  local.port = first == 0 ? uint16_t{0} : static_cast<uint16_t>(first + index);
  const bool ipv6 = local.family == FabricAddress::Family::ipv6;
  Fd fd = native().is_used() ? open_raw_socket(local, settings_.native.ip_protocol)
                             : open_udp_socket(local);
  if (native().is_used()) local.port = 0;
  SockAddr name;
  const socklen_t length = to_sockaddr(local, name);
  epoll_event event{};
  if (!fd || !deafen(fd) || ::bind(fd.get(), &name.any, length) != 0 ||
      !prepare(fd, ipv6, settings_.send_buffer_bytes) ||
      ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd.get(), &event) != 0) {
    failed_ |= uint64_t{1} << index;
    return fallback_;
  }
  sockets_[index] = std::move(fd);
  return sockets_[index].get();
}

// A raw socket has no ports, and one of IPv6 refuses them.
socklen_t UdpTxSockets::name_of(const FabricAddress& to, SockAddr& out) const {
  if (!native().is_used()) return to_sockaddr(to, out);
  FabricAddress address = to;
  address.port = 0;
  return to_sockaddr(address, out);
}

uint16_t UdpTxSockets::port_of(uint32_t index) {
  if (native().is_used()) return kUetPort;
  if (ports_[index] == 0) {
    SockAddr name{};
    socklen_t length = sizeof name;
    if (::getsockname(fd_of(index), &name.any, &length) != 0) return settings_.local.port;
    ports_[index] = from_sockaddr(name).port;
  }
  return ports_[index];
}

void UdpTxSockets::change_favourite(uint32_t index) {
  Favourite& favourite = favourites_[index];
  const FabricAddress to = favourite.missed_to;
  const int tos = favourite.missed_tos;
  favourite = {};
  const int fd = fd_of(index);
  if (fd == fallback_) return;  // peers must reach it: never connected

  const bool ipv6 = to.family == FabricAddress::Family::ipv6;
  SockAddr name;
  const socklen_t length = name_of(to, name);
  // A refusal does no harm: messages then carry their address and marks themselves.
  if (::setsockopt(fd, ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, ipv6 ? IPV6_TCLASS : IP_TOS, &tos,
                   sizeof tos) != 0 ||
      ::connect(fd, &name.any, length) != 0) {
    return;
  }
  favourite.to = to;
  favourite.tos = static_cast<uint8_t>(tos);
}

// A route that does not even carry the smallest payload is most likely a forged ICMP error, which
// the system believes for ten minutes. From here on the socket asks the interface only; packets are
// still never cut. False: it does so already, or cannot. [LF-141]
bool UdpTxSockets::insist(int fd) const {
  const bool ipv6 = settings_.local.family == FabricAddress::Family::ipv6;
  const int level = ipv6 ? IPPROTO_IPV6 : IPPROTO_IP;
  const int option = ipv6 ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER;
  int value = 0;
  socklen_t length = sizeof value;
  if (::getsockopt(fd, level, option, &value, &length) != 0 || value == IP_PMTUDISC_PROBE) {
    return false;
  }
  value = IP_PMTUDISC_PROBE;
  return ::setsockopt(fd, level, option, &value, sizeof value) == 0;
}

}  // namespace uet::io
