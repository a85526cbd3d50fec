// Names, credentials and the three messages.
#include "io/shm/door.h"

#include "io/shm/ring.h"

#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace uet::io {
namespace {

constexpr uint32_t kMagic = 0x7565'7431;  // and the version of ring and messages
constexpr int kWaiting = 128;             // connections that are not accepted yet
// The id that the kernel shows for every user that this user namespace lacks.
constexpr uid_t kUnknownUser = 65534;

struct Hello {
  uint32_t magic = kMagic;
  uint32_t ring_bytes = kShmRingBytes;
  FabricAddress from;
};

struct Welcome {
  uint32_t magic = kMagic;
};

constexpr char kBell = 1;
constexpr int kBellsAtOnce = 64;

struct Name {
  sockaddr_un address{};
  socklen_t length = 0;
};

// "\0uet-shm-1:<address in hex>.<port>.<scope>", without UDP ".ip<protocol>" behind it: abstract.
Name name_of(const FabricAddress& a, uint8_t ip_protocol) {
  Name name;
  name.address.sun_family = AF_UNIX;
  char text[sizeof name.address.sun_path - 1];
  int used = std::snprintf(text, sizeof text, "uet-shm-1:");
  for (uint32_t i = 0; i < a.ip_length(); ++i) {
    used += std::snprintf(text + used, sizeof text - static_cast<size_t>(used), "%02x", a.ip[i]);
  }
  used += std::snprintf(text + used, sizeof text - static_cast<size_t>(used), ".%u.%u", a.port,
                        a.scope_id);
  if (ip_protocol != 0) {
    used +=
        std::snprintf(text + used, sizeof text - static_cast<size_t>(used), ".ip%u", ip_protocol);
  }
  std::memcpy(name.address.sun_path + 1, text, static_cast<size_t>(used));
  name.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + used);
  return name;
}

Fd open_unix() { return Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

// Processes of one user may read each other's memory anyway. [LF-142]
bool may_share(const Fd& connection) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  return peer.uid == ::geteuid() && peer.uid != kUnknownUser;
}

// An address that an endpoint can have, in its only text form.
bool is_address(const FabricAddress& a) {
  if (a.port == 0) return false;
  if (a.family == FabricAddress::Family::ipv6) return true;
  return a.family == FabricAddress::Family::ipv4 && a.scope_id == 0 &&
         std::all_of(a.ip.begin() + 4, a.ip.end(), [](uint8_t octet) { return octet == 0; });
}

// The first descriptor of a message; any others are closed.
Fd take_descriptor(msghdr& message) {
  Fd taken;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = CMSG_LEN(0); at + sizeof(int) <= c->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, reinterpret_cast<std::byte*>(c) + at, sizeof fd);
      Fd owned(fd);
      if (!taken) taken = std::move(owned);
    }
  }
  return taken;
}

}  // namespace

bool ShmDoor::open(const FabricAddress& local, uint8_t ip_protocol) {
  socket_ = open_unix();
  const Name name = name_of(local, ip_protocol);
  return socket_ &&
         ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&name.address), name.length) ==
             0 &&
         ::listen(socket_.get(), kWaiting) == 0;
}

bool ShmDoor::accept(Fd& connection) {
  connection = Fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!connection) return false;
  if (!may_share(connection)) connection = Fd();
  return true;
}

Fd connect_to_door(const FabricAddress& to, uint8_t ip_protocol) {
  Fd connection = open_unix();
  const Name name = name_of(to, ip_protocol);
  if (!connection || ::connect(connection.get(), reinterpret_cast<const sockaddr*>(&name.address),
                               name.length) != 0) {
    return Fd();
  }
  if (may_share(connection)) return connection;
  errno = EPERM;
  return Fd();
}

bool send_hello(const Fd& connection, const FabricAddress& from, const Fd& ring) {
  Hello hello;
  hello.from = from;
  iovec octets{&hello, sizeof hello};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &octets;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = ring.get();
  std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  return ::sendmsg(connection.get(), &message, MSG_NOSIGNAL) == sizeof hello;
}

bool send_welcome(const Fd& connection) {
  const Welcome welcome;
  return ::send(connection.get(), &welcome, sizeof welcome, MSG_NOSIGNAL) == sizeof welcome;
}

void ring_bell(const Fd& connection) {
  (void)::send(connection.get(), &kBell, sizeof kBell, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ShmNews read_connection(const Fd& connection, FabricAddress& from, Fd& ring) {
  for (int i = 0; i < kBellsAtOnce; ++i) {
    Hello hello;
    iovec octets{&hello, sizeof hello};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(4 * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &octets;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(connection.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN ? ShmNews::nothing : ShmNews::closed;
    Fd descriptor = take_descriptor(message);
    if (got == sizeof kBell && !descriptor) continue;
    if (got == sizeof(Welcome) && hello.magic == kMagic) return ShmNews::welcome;
    if (got != sizeof hello || hello.magic != kMagic || hello.ring_bytes != kShmRingBytes ||
        !descriptor || !is_address(hello.from)) {
      return ShmNews::closed;
    }
    from = hello.from;
    ring = std::move(descriptor);
    return ShmNews::hello;
  }
  return ShmNews::nothing;
}

}  // namespace uet::io
