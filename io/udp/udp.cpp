// The ports of a process, and its error queues. udp_tx and udp_rx move packets.
#include "io/udp/udp.h"

#include "io/frame/frame.h"
#include "io/host/interfaces.h"

#include "base/crc32c.h"

#include <linux/errqueue.h>
#include <net/if.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace uet::io {
namespace {

constexpr uint32_t kIpBytesMax = 65535;  // of an IPv4 packet, and of what follows an IPv6 header
// No process owns the block that contains 4793: its sender could be the owner of 4793.
constexpr uint16_t kBlockOfUetPort = kUetPort / UdpIo::kBlockPorts * UdpIo::kBlockPorts;

bool is_ipv6(const FabricAddress& a) { return a.family == FabricAddress::Family::ipv6; }

int bind_to(const Fd& fd, FabricAddress address, uint16_t port) {
  address.port = port;
  SockAddr name;
  const socklen_t length = to_sockaddr(address, name);
  return ::bind(fd.get(), &name.any, length) == 0 ? 0 : errno;
}

// A raw socket receives packets for other addresses until it is bound: these must not stay in it.
bool bind_quietly(const Fd& fd, const FabricAddress& local) {
  if (!UdpTxSockets::deafen(fd) || bind_to(fd, local, 0) != 0) return false;
  std::byte octet;
  while (::recv(fd.get(), &octet, sizeof octet, MSG_DONTWAIT) >= 0) {
  }
  const int none = 0;
  return ::setsockopt(fd.get(), SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof none) == 0;
}

std::string place(const FabricAddress& a, uint16_t port) {
  return "UDP port " + std::to_string(port) + " of " + ip_text(a);
}

// The remedy when descriptors are used up; else "".
std::string descriptor_hint(int error) {
  const bool is_used_up = error == EMFILE || error == ENFILE;
  return is_used_up ? "; allow more open files (ulimit -n)" : "";
}

// The sentence for a bind that failed for a reason other than a taken port.
std::string bind_failure(const FabricAddress& local, uint16_t port, int error) {
  std::string text = "cannot bind " + place(local, port) + ": " + errno_text(error);
  if (error == EADDRNOTAVAIL) {
    text += "; choose an address that this host has (FI_UET_IFACE), as listed by \"ip address\"";
  } else if (error == EACCES) {
    text += "; choose ports above 1023 (FI_UET_PORT_RANGE)";
  }
  return text + descriptor_hint(error);
}

uint32_t random_below(uint32_t n) {
  uint32_t drawn = 0;
  if (::getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) drawn = static_cast<uint32_t>(getpid());
  return drawn % n;
}

// Milliseconds are enough here, and this clock costs no more than a few loads.
int64_t coarse_now_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// A name that only one process of this network can have. Empty with errno.
Fd claim_address(const FabricAddress& local, uint8_t ip_protocol) {
  const std::string text = "uet-ip/" + std::to_string(ip_protocol) + "/" + ip_text(local);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  UET_ASSERT(text.size() + 1 < sizeof name.sun_path);
  std::memcpy(name.sun_path + 1, text.data(), text.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), length) != 0) return Fd();
  return fd;
}

bool check(const UdpOptions& o, std::string& error) {
  if (!o.local.valid() ||
      std::all_of(o.local.ip.begin(), o.local.ip.end(), [](uint8_t octet) { return octet == 0; })) {
    error = "a Fabric Address of its own is needed, not the wildcard address; set FI_UET_IFACE";
  } else if (o.entropy_values < 1 || o.entropy_values > UdpTxSockets::kEntropyMax) {
    error = "the number of entropy values must be 1 to " +
            std::to_string(UdpTxSockets::kEntropyMax) + "; set FI_UET_ENTROPY_VALUES";
  } else if (o.local.port != kUetPort &&
             (o.local.port % UdpIo::kBlockPorts != 0 || o.local.port == kBlockOfUetPort)) {
    error =
        "a port other than 4793 must be a multiple of 16, and not 4784: it is the base of a block";
  } else if (o.ip_protocol != 0 && o.local.port != kUetPort) {
    error = "an address has no ports without UDP: leave the port out, or use FI_UET_IO=udp";
  } else if (o.local.port == 0 || o.port_first == 0) {
    error = "peers cannot send to port 0; choose another port, or set FI_UET_PORT_RANGE";
  } else {
    return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<UdpIo> UdpIo::open(const UdpOptions& options, std::string* error) {
  std::string ignored;
  std::string& why = error == nullptr ? ignored : *error;
  if (!check(options, why)) return nullptr;

  std::unique_ptr<UdpIo> io(new UdpIo);
  io->local_ = options.local;
  io->epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!io->epoll_) {
    why = "cannot make an epoll descriptor: " + errno_text(errno) + descriptor_hint(errno);
    return nullptr;
  }
  if (!io->bind_sockets(options, why) || !io->start(options, why)) return nullptr;
  return io;
}

// The one place that decides which ports a process gets. [decision 3, scheme 0]
bool UdpIo::bind_sockets(const UdpOptions& options, std::string& error) {
  if (options.ip_protocol != 0) return bind_raw(options, error);
  int failure = 0;
  if (options.local.port != kUetPort) {
    if (options.strict_port) {
      error = "FI_UET_STRICT_PORT=1 allows no port but 4793; unset it to use " +
              place(local_, options.local.port);
      return false;
    }
    if (bind_block(options, options.local.port / kBlockPorts, 1, failure)) return true;
    error = bind_failure(local_, options.local.port, failure);
    return false;
  }
  if (options.leave_uet_port && !options.strict_port && search_block(options, error)) return true;
  if (bind_whole(options, failure)) return true;
  if (failure != EADDRINUSE) {
    error = bind_failure(local_, kUetPort, failure);
    return false;
  }
  if (options.strict_port) {
    error = place(local_, kUetPort) +
            " is taken by another process and FI_UET_STRICT_PORT=1 allows no other: give each "
            "process an address of its own (FI_UET_IFACE), or unset FI_UET_STRICT_PORT to let "
            "later processes use ports of FI_UET_PORT_RANGE";
    return false;
  }
  return search_block(options, error);
}

// One socket receives; the other one sends, and may be connected.
bool UdpIo::bind_raw(const UdpOptions& options, std::string& error) {
  const std::string what =
      "IP protocol " + std::to_string(options.ip_protocol) + " of " + ip_text(local_);
  native_.claim = claim_address(local_, options.ip_protocol);
  if (!native_.claim && errno == EADDRINUSE) {
    error = what +
            " is taken by another process, and it has no ports to share it by: give each "
            "process an address of its own (FI_UET_IFACE), or use FI_UET_IO=udp";
    return false;
  }
  if (native_.claim) owned_port_ = open_raw_socket(local_, options.ip_protocol);
  if (!owned_port_ || !bind_quietly(owned_port_, local_) ||
      !UdpTxSockets::prepare(owned_port_, is_ipv6(local_), options.send_buffer_bytes)) {
    const int failure = errno;
    error = "cannot open a raw socket for " + what + ": " + errno_text(failure);
    const bool is_forbidden = failure == EPERM || failure == EACCES;
    error += is_forbidden ? "; give the process CAP_NET_RAW, or use FI_UET_IO=udp"
                          : "; use FI_UET_IO=udp";
    return false;
  }
  local_.port = kUetPort;
  native_.protocol = options.ip_protocol;
  tx_.configure({.local = local_,
                 .entropy_values = 1,
                 .send_buffer_bytes = options.send_buffer_bytes,
                 .native = native_format(options)},
                false, epoll_.get(), owned_port_.get());
  return true;
}

bool UdpIo::bind_whole(const UdpOptions& options, int& failure) {
  owned_port_ = open_udp_socket(local_);
  failure = owned_port_ ? bind_to(owned_port_, local_, kUetPort) : errno;
  if (failure == 0 &&
      !UdpTxSockets::prepare(owned_port_, is_ipv6(local_), options.send_buffer_bytes)) {
    failure = errno;
  }
  if (failure != 0) {
    owned_port_ = Fd();
    return false;
  }
  tx_.configure({local_, options.entropy_values, options.send_buffer_bytes}, options.gso,
                epoll_.get(), owned_port_.get());
  return true;
}

// The first port is the block: its owner sends from the others.
bool UdpIo::bind_block(const UdpOptions& options, uint32_t first, uint32_t blocks, int& failure) {
  Fd socket = open_udp_socket(local_);
  failure = socket ? 0 : errno;
  const uint16_t base = failure == 0 ? bind_free_block(socket, first, blocks, failure) : 0;
  if (base != 0 && !UdpTxSockets::prepare(socket, is_ipv6(local_), options.send_buffer_bytes)) {
    failure = errno;
  }
  if (failure != 0) return false;
  local_.port = base;
  const uint32_t sockets = std::min(options.entropy_values + 1, kBlockPorts);
  tx_.configure({local_, sockets, options.send_buffer_bytes, base}, options.gso, epoll_.get(),
                socket.get());
  tx_.adopt(0, std::move(socket));
  return true;
}

// Binds the socket to the base of a free block; 0: none, or a failure for another reason. A random
// start keeps processes that start together from queueing up at the same block.
uint16_t UdpIo::bind_free_block(const Fd& socket, uint32_t first, uint32_t blocks,
                                int& failure) const {
  const uint32_t start = blocks > 0 ? random_below(blocks) : 0;
  failure = EADDRINUSE;
  for (uint32_t i = 0; i < blocks && failure == EADDRINUSE; ++i) {
    const auto base = static_cast<uint16_t>((first + (start + i) % blocks) * kBlockPorts);
    if (base == kBlockOfUetPort) continue;
    failure = bind_to(socket, local_, base);
    if (failure == 0) return base;
  }
  return 0;
}

bool UdpIo::search_block(const UdpOptions& options, std::string& error) {
  const uint32_t first = (options.port_first + kBlockPorts - 1u) / kBlockPorts;
  const uint32_t end = (options.port_last + 1u) / kBlockPorts;
  const uint32_t blocks = end > first ? end - first : 0;
  const uint32_t early = std::min(blocks, kFirstBlocks);
  int failure = 0;
  if (bind_block(options, first, early, failure)) return true;
  if (failure == EADDRINUSE && bind_block(options, first + early, blocks - early, failure)) {
    return true;
  }
  if (failure != EADDRINUSE) {
    error = bind_failure(local_, options.port_first, failure);
    return false;
  }
  error = place(local_, kUetPort) + " is taken and no block of 16 ports is free in " +
          std::to_string(options.port_first) + "-" + std::to_string(options.port_last) +
          ": widen FI_UET_PORT_RANGE or give this process an address of its own (FI_UET_IFACE)";
  return false;
}

bool UdpIo::watch_input(int fd) { return watch(fd, EPOLLIN); }

bool UdpIo::watch(int fd, uint32_t events) {
  epoll_event event{};
  event.events = events;  // errors are always included
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

// Receive side and limits, once the ports are ours.
bool UdpIo::start(const UdpOptions& options, std::string& error) {
  const Fd& socket = receive_socket();
  if (options.receive_buffer_bytes != 0) {
    // The system caps this; whatever it grants is reported in caps().
    (void)set_option(socket, SOL_SOCKET, SO_RCVBUF, static_cast<int>(options.receive_buffer_bytes));
  }
  // The kernel counts its own overhead and reports twice what holds octets.
  receive_buffer_bytes_ = static_cast<uint32_t>(get_option(socket, SOL_SOCKET, SO_RCVBUF, 0)) / 2;

  const bool ipv6 = is_ipv6(local_);
  const std::vector<Interface> interfaces = list_interfaces();
  const Interface* const found = find_interface(interfaces, local_);
  if (found != nullptr) interface_ = found->name;
  uint32_t mtu = options.mtu_bytes;
  if (mtu == 0) mtu = found != nullptr ? found->mtu_bytes : 1500;
  const bool is_native = native_.protocol != 0;
  const NativeFormat native = native_format(options);
  const uint32_t overhead = around_bytes(native, local_);
  if (mtu <= overhead) {
    error = "an MTU of " + std::to_string(mtu) + " octets is too small for a datagram; raise the " +
            "MTU of the interface (ip link set)";
    return false;
  }
  max_datagram_bytes_ = std::min(mtu, kIpBytesMax + (ipv6 ? kIpv6Header : 0)) - overhead;

  const bool ready = options.deaf ? UdpTxSockets::deafen(socket) && watch(socket.get(), 0)
                                  : rx_.attach(socket, {.ipv6 = ipv6,
                                                        .gro = options.gro && !is_native,
                                                        .native = native,
                                                        .buffer_bytes = receive_buffer_bytes_}) &&
                                        watch(socket.get(), EPOLLIN);
  if (!ready) {
    error = "cannot prepare the receive socket: " + errno_text(errno) + descriptor_hint(errno);
    return false;
  }
  if (!options.ring) return true;
  UET_ASSERT(!options.deaf);
  std::unique_ptr<UdpRing> ring = UdpRing::open(socket, options.ring_settled_calls, &error);
  if (ring == nullptr) return false;
  tx_.use(ring.get());
  rx_.use(std::move(ring));
  return true;
}

IoCaps UdpIo::caps() const {
  IoCaps caps;
  caps.max_datagram_bytes = max_datagram_bytes_;
  caps.entropy_values = native_.protocol != 0 ? 1 << 16 : tx_.sockets().entropy_values();
  caps.ip_protocol = native_.protocol;
  // All segments of a super-packet share one source port: a change of EV ends it.
  caps.burst_bytes = tx_.gso() ? UdpTx::kSuperBytesMax : 0;
  caps.receive_buffer_bytes = receive_buffer_bytes_;
  caps.ecn = true;
  return caps;
}

std::span<const PathError> UdpIo::path_errors() {
  error_count_ = 0;
  const bool told = tx_.take_error() || rx_.take_error();
  const int64_t now_ns = coarse_now_ns();
  if (!told && now_ns == errors_checked_ns_) return {};
  errors_checked_ns_ = now_ns;

  std::array<epoll_event, UdpTxSockets::kEntropyMax + 1> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  const bool failed = std::any_of(events.begin(), events.begin() + std::max(count, 0),
                                  [](const epoll_event& e) { return (e.events & EPOLLERR) != 0; });
  if (!failed) return {};
  if (owned_port_) drain_errors(owned_port_);
  for (uint32_t i = 0; i < tx_.sockets().entropy_values(); ++i) {
    if (tx_.sockets()[i]) drain_errors(tx_.sockets()[i]);
  }
  return {errors_.data(), error_count_};
}

int UdpIo::failure() const {
  if (!interface_.empty()) {
    ifreq request{};
    std::memcpy(request.ifr_name, interface_.data(),
                std::min(interface_.size(), sizeof request.ifr_name - 1));
    // A socket that another part of the process closed shows here, too.
    if (::ioctl(receive_socket().get(), SIOCGIFFLAGS, &request) != 0) return errno;
    if ((request.ifr_flags & IFF_UP) == 0) return ENETDOWN;
  }
  const Fd probe = open_udp_socket(local_);
  if (!probe) return 0;  // no descriptor is left; this says nothing about the network
  return bind_to(probe, local_, 0);
}

void UdpIo::report_counters(const CounterSink& sink) const {
  const UdpRxCounters& rx = rx_.counters();
  sink("udp_rx_system_calls", rx.system_calls);
  sink("udp_rx_messages", rx.messages);
  sink("udp_rx_datagrams", rx.datagrams);
  sink("udp_rx_truncated", rx.truncated);
  sink("udp_rx_errors", rx.errors);
  sink("udp_rx_bad_crc", rx.bad_crc);
  const UdpTxCounters& tx = tx_.counters();
  sink("udp_tx_system_calls", tx.system_calls);
  sink("udp_tx_messages", tx.messages);
  sink("udp_tx_packets", tx.packets);
  sink("udp_tx_later", tx.later);
  sink("udp_tx_never", tx.never);
  sink("udp_tx_retries", tx.retries);
  sink("udp_tx_split_runs", tx.split_runs);
  sink("udp_tx_gso_disabled", tx.gso_disabled);
  sink("udp_tx_insisted", tx.insisted);
  if (rx_.ring() != nullptr) rx_.ring()->report_counters(sink);
}

// Reads the error queue of one socket until it is empty or our list is full (the rest stays).
void UdpIo::drain_errors(const Fd& fd) {
  while (error_count_ < kErrors) {
    SockAddr to{};
    alignas(cmsghdr) std::array<std::byte, 512> control;
    msghdr header{};
    header.msg_name = &to;
    header.msg_namelen = sizeof to;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    if (::recvmsg(fd.get(), &header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
      if (errno == EINTR) continue;
      // An error without a queue entry (the queue was full) is taken off here, or epoll would
      // report it without end.
      (void)get_option(fd, SOL_SOCKET, SO_ERROR, 0);
      return;
    }
    for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
      const bool v4 = c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR;
      const bool v6 = c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR;
      if (!v4 && !v6) continue;
      sock_extended_err detail;
      std::memcpy(&detail, CMSG_DATA(c), sizeof detail);
      PathError found{from_sockaddr(to), static_cast<int>(detail.ee_errno)};
      if (native_.protocol != 0) {
        found.to.port = kUetPort;
        // No socket of that host takes this protocol.
        if (found.error == ENOPROTOOPT || found.error == EPROTO) found.error = ECONNREFUSED;
      }
      const bool known = std::any_of(
          errors_.begin(), errors_.begin() + error_count_,
          [&](const PathError& e) { return e.to == found.to && e.error == found.error; });
      if (known || !found.to.valid()) continue;
      errors_[error_count_++] = found;
    }
  }
}

// The MTU that the kernel has for the route now, not the one that the ICMP error names: that may be
// forged. An earlier value may belong to a route that has become smaller again. [LF-141]
uint32_t UdpIo::route_mtu(const FabricAddress& to) {
  const int64_t now_ns = coarse_now_ns();
  if (now_ns - questions_.since_ns >= 1'000'000'000) {
    questions_.since_ns = now_ns;
    questions_.count = 0;
  }
  if (questions_.count == kQuestionsMax) return 0;
  ++questions_.count;
  const uint32_t mtu = routes_.ask_anew(local_, to, Instant::from_ns(now_ns)).mtu_bytes;
  routes_.rest();
  return mtu;
}

}  // namespace uet::io
