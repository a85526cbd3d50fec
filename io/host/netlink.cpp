// The socket under netlink.h.
#include "io/host/netlink.h"

namespace uet::io {

Fd open_netlink(int family) {
  Fd netlink(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, family));
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  const auto* const name = reinterpret_cast<const sockaddr*>(&kernel);
  if (netlink && ::connect(netlink.get(), name, sizeof kernel) != 0) return Fd();
  return netlink;
}

}  // namespace uet::io
