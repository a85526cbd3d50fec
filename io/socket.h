// The little that every socket user here needs: an owned descriptor, and Fabric Addresses as
// socket addresses. Sends and receives nothing.
#pragma once

#include "base/packet.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <utility>

namespace uet::io {

// An open descriptor, closed with its owner.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Fd& operator=(Fd&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~Fd() { close(); }
  void close();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Room for an IPv4 or IPv6 socket address, usable as any of the three views.
union SockAddr {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

// Fills `out` and returns its length. The address must be valid.
socklen_t to_sockaddr(const FabricAddress& address, SockAddr& out);
// An address of family none for anything but IPv4 and IPv6.
FabricAddress from_sockaddr(const SockAddr& address);

// AF_INET or AF_INET6.
int socket_family(const FabricAddress& address);

// A non-blocking, close-on-exec UDP socket; IPv6 ones carry IPv6 only. Check it: errno on failure.
Fd open_udp_socket(const FabricAddress& address);

// The same for a separate IP protocol: a raw socket, which needs CAP_NET_RAW.
Fd open_raw_socket(const FabricAddress& address, uint8_t ip_protocol);

// setsockopt of an int; false with errno.
bool set_option(const Fd& fd, int level, int name, int value);
// getsockopt of an int, or `otherwise`.
int get_option(const Fd& fd, int level, int name, int otherwise);

// "10.0.0.1", "fe80::1%2": for messages to people.
std::string ip_text(const FabricAddress& address);
// The system's words for an errno.
std::string errno_text(int error);

// CLOCK_MONOTONIC.
Instant monotonic_now();

}  // namespace uet::io
