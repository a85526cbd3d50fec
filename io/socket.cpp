// Descriptors and socket addresses.
#include "io/socket.h"

#include <arpa/inet.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

namespace uet::io {

void Fd::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

socklen_t to_sockaddr(const FabricAddress& address, SockAddr& out) {
  UET_ASSERT(address.valid());
  if (address.family == FabricAddress::Family::ipv4) {
    out.v4 = {};
    out.v4.sin_family = AF_INET;
    out.v4.sin_port = htons(address.port);
    std::memcpy(&out.v4.sin_addr, address.ip.data(), 4);
    return sizeof out.v4;
  }
  out.v6 = {};
  out.v6.sin6_family = AF_INET6;
  out.v6.sin6_port = htons(address.port);
  out.v6.sin6_scope_id = address.scope_id;
  std::memcpy(&out.v6.sin6_addr, address.ip.data(), 16);
  return sizeof out.v6;
}

FabricAddress from_sockaddr(const SockAddr& address) {
  FabricAddress out;
  if (address.any.sa_family == AF_INET) {
    out.family = FabricAddress::Family::ipv4;
    out.port = ntohs(address.v4.sin_port);
    std::memcpy(out.ip.data(), &address.v4.sin_addr, 4);
  } else if (address.any.sa_family == AF_INET6) {
    out.family = FabricAddress::Family::ipv6;
    out.port = ntohs(address.v6.sin6_port);
    out.scope_id = address.v6.sin6_scope_id;
    std::memcpy(out.ip.data(), &address.v6.sin6_addr, 16);
  }
  return out;
}

int socket_family(const FabricAddress& address) {
  return address.family == FabricAddress::Family::ipv6 ? AF_INET6 : AF_INET;
}

Fd open_udp_socket(const FabricAddress& address) {
  const int family = socket_family(address);
  Fd fd(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd && family == AF_INET6 && !set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1)) return Fd();
  return fd;
}

Fd open_raw_socket(const FabricAddress& address, uint8_t ip_protocol) {
  return Fd(::socket(socket_family(address), SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, ip_protocol));
}

bool set_option(const Fd& fd, int level, int name, int value) {
  return ::setsockopt(fd.get(), level, name, &value, sizeof value) == 0;
}

int get_option(const Fd& fd, int level, int name, int otherwise) {
  int value = 0;
  socklen_t length = sizeof value;
  return ::getsockopt(fd.get(), level, name, &value, &length) == 0 ? value : otherwise;
}

std::string ip_text(const FabricAddress& address) {
  char text[INET6_ADDRSTRLEN] = "none";
  if (address.valid()) {
    ::inet_ntop(socket_family(address), address.ip.data(), text, sizeof text);
  }
  std::string out = text;
  if (address.scope_id != 0) out.append("%").append(std::to_string(address.scope_id));
  return out;
}

std::string errno_text(int error) {
  char room[128] = "";
  return ::strerror_r(error, room, sizeof room);
}

Instant monotonic_now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return Instant::from_ns(int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec);
}

}  // namespace uet::io
