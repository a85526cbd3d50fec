// Joining packets into runs, sending runs, and finding out whose fault a refusal is.
#include "io/udp_tx.h"

#include <linux/filter.h>
#include <netinet/udp.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstring>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

namespace uet::io {
namespace {

uint8_t tos_of(const TxPacket& packet) {
  return static_cast<uint8_t>(packet.dscp << 2 | static_cast<uint8_t>(packet.ecn));
}

// The system has no room now: the same packet is fine a little later.
bool means_later(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS || error == ENOMEM;
}

// What an ICMP answer to an earlier packet leaves on the socket, to be reported by the next call
// whatever that sends.
bool may_be_pending(int error) {
  switch (error) {
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENOPROTOOPT:
    case EPROTO:
    case EACCES:
    case EMSGSIZE:
      return true;
    default:
      return false;
  }
}

// How the kernel says that it cannot segment for this device or socket.
bool means_no_gso(int error) {
  return error == EIO || error == EINVAL || error == EOPNOTSUPP || error == ENOPROTOOPT;
}

}  // namespace

void UdpTx::configure(const Settings& settings, int epoll, int fallback) {
  UET_ASSERT(settings.entropy_values >= 1 && settings.entropy_values <= kEntropyMax);
  settings_ = settings;
  epoll_ = epoll;
  fallback_ = fallback;
}

bool UdpTx::prepare(const Fd& socket, bool ipv6, uint32_t send_buffer_bytes) {
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

bool UdpTx::deafen(const Fd& socket) {
  // Or the kernel would cut super-packets into datagrams first, only to drop each of them.
  (void)set_option(socket, IPPROTO_UDP, UDP_GRO, 1);
  sock_filter drop_all[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
  const sock_fprog program{1, drop_all};
  return ::setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

// The descriptor for an EV index; opens its socket on first use.
int UdpTx::fd_of(uint32_t index) {
  if (sockets_[index]) return sockets_[index].get();
  if ((failed_ >> index & 1) != 0) return fallback_;

  FabricAddress local = settings_.local;
  // Any that is free, because nobody answers to it; or the next of the block.
  const uint16_t first = settings_.first_port;
  local.port = first == 0 ? uint16_t{0} : static_cast<uint16_t>(first + index);
  SockAddr name;
  const socklen_t length = to_sockaddr(local, name);
  const bool ipv6 = local.family == FabricAddress::Family::ipv6;
  Fd fd = open_udp_socket(local);
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

uint16_t UdpTx::source_port(Entropy ev) {
  const uint32_t index = ev.value() % settings_.entropy_values;
  if (ports_[index] == 0) {
    SockAddr name{};
    socklen_t length = sizeof name;
    if (::getsockname(fd_of(index), &name.any, &length) != 0) return settings_.local.port;
    ports_[index] = from_sockaddr(name).port;
  }
  return ports_[index];
}

void UdpTx::send(std::span<TxPacket> packets) {
  blocked_ = 0;
  while (!packets.empty()) {
    run_count_ = vector_count_ = 0;
    used_ = 0;
    const uint32_t taken = take_chunk(packets);
    for (uint32_t i = 0; i < run_count_ && used_ != 0; ++i) {
      const uint64_t socket = uint64_t{1} << runs_[i].socket;
      if ((used_ & socket) != 0) flush(packets, runs_[i].socket);
      used_ &= ~socket;
    }
    packets = packets.subspan(taken);
  }
}

// Sorts as many packets as the tables hold into runs; returns how many were looked at.
uint32_t UdpTx::take_chunk(std::span<TxPacket> packets) {
  uint32_t vectors = 0;
  uint32_t at = 0;
  for (; at < packets.size() && at < kRuns; ++at) {
    const uint32_t needed = admit(packets[at]);
    if (needed == 0) continue;
    if (vectors + needed > kVectors) break;
    vectors += needed;
    add_to_run(packets, at);
  }
  return at;
}

// Refuses what can never be sent; returns the vectors that the packet needs, 0 for refused.
uint32_t UdpTx::admit(TxPacket& packet) {
  packet.fate = TxFate::never;
  packet.error = 0;
  if (packet.to.family != settings_.local.family) packet.error = EAFNOSUPPORT;
  if (packet.slice_count > TxBatch::kSlices) packet.error = EINVAL;
  if (packet.error == 0) return packet.slice_count + 1u;
  ++counters_.never;
  return 0;
}

bool UdpTx::joins(const Run& run, const TxPacket& first, const TxPacket& packet,
                  uint8_t tos) const {
  return settings_.gso && !run.closed && run.tos == tos && run.packets < kSegmentsMax &&
         first.to == packet.to && packet.bytes() > 0 && packet.bytes() <= run.segment_bytes &&
         run.bytes + packet.bytes() <= kSuperBytesMax;
}

void UdpTx::add_to_run(std::span<TxPacket> packets, uint32_t index) {
  const TxPacket& packet = packets[index];
  const uint32_t socket = packet.ev.value() % settings_.entropy_values;
  const uint8_t tos = tos_of(packet);
  next_[index] = kNone;
  used_ |= uint64_t{1} << socket;

  // Only the latest run to this destination may grow: an older one would overtake.
  for (uint32_t i = run_count_; i > 0; --i) {
    Run& run = runs_[i - 1];
    if (run.socket != socket || packets[run.first].to != packet.to) continue;
    if (!joins(run, packets[run.first], packet, tos)) break;
    next_[run.last] = index;
    run.last = index;
    run.bytes += packet.bytes();
    ++run.packets;
    run.closed = packet.bytes() < run.segment_bytes;
    return;
  }
  runs_[run_count_++] = {socket, index, index, 1, packet.bytes(), packet.bytes(), tos, false};
}

uint32_t UdpTx::gather(const TxPacket& packet, uint32_t at) {
  vectors_[at++] = {packet.header, packet.header_bytes};
  for (uint32_t i = 0; i < packet.slice_count; ++i) {
    // sendmsg does not write through the pointer.
    vectors_[at++] = {const_cast<std::byte*>(packet.slices[i].data), packet.slices[i].length};
  }
  return at;
}

void UdpTx::set_control(msghdr& header, Control& control, bool with_tos, uint8_t tos,
                        uint32_t segment_bytes) const {
  const bool ipv6 = settings_.local.family == FabricAddress::Family::ipv6;
  std::byte* at = control.bytes.data();
  const auto append = [&at](int level, int type, const void* value, size_t length) {
    auto* const c = reinterpret_cast<cmsghdr*>(at);
    c->cmsg_level = level;
    c->cmsg_type = type;
    c->cmsg_len = CMSG_LEN(length);
    std::memcpy(CMSG_DATA(c), value, length);
    at += CMSG_SPACE(length);
  };
  if (with_tos) {
    const int value = tos;
    append(ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, ipv6 ? IPV6_TCLASS : IP_TOS, &value, sizeof value);
  }
  if (segment_bytes != 0) {
    const auto segment = static_cast<uint16_t>(segment_bytes);
    append(IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof segment);
  }
  header.msg_controllen = static_cast<size_t>(at - control.bytes.data());
  header.msg_control = header.msg_controllen > 0 ? control.bytes.data() : nullptr;
}

// Whether the socket knows this destination and these marks by itself.
bool UdpTx::favours(uint32_t socket, const FabricAddress& to, uint8_t tos) {
  Favourite& favourite = favourites_[socket];
  if (favourite.tos == tos && favourite.to == to) {
    favourite.misses = 0;
    return true;
  }
  ++favourite.misses;
  favourite.missed_to = to;
  favourite.missed_tos = tos;
  return false;
}

// What was missed often enough in a row becomes the favourite. Only between messages: one that was
// built for the old favourite carries no address.
void UdpTx::reconsider_favourite(uint32_t socket, int fd) {
  Favourite& favourite = favourites_[socket];
  if (favourite.misses < kMissesMax) return;
  const FabricAddress to = favourite.missed_to;
  const int tos = favourite.missed_tos;
  favourite = {};
  if (fd == fallback_) return;  // others must reach it: never connected

  const bool ipv6 = to.family == FabricAddress::Family::ipv6;
  SockAddr name;
  const socklen_t length = to_sockaddr(to, name);
  // A refusal is no harm: messages then carry their address and marks themselves.
  if (::setsockopt(fd, ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, ipv6 ? IPV6_TCLASS : IP_TOS, &tos,
                   sizeof tos) != 0 ||
      ::connect(fd, &name.any, length) != 0) {
    return;
  }
  favourite.to = to;
  favourite.tos = static_cast<uint8_t>(tos);
}

void UdpTx::build(std::span<TxPacket> packets, uint32_t run_index, uint32_t message) {
  const Run& run = runs_[run_index];
  message_run_[message] = run_index;
  const uint32_t first_vector = vector_count_;
  for (uint32_t i = run.first; i != kNone; i = next_[i]) {
    vector_count_ = gather(packets[i], vector_count_);
  }
  msghdr& header = headers_[message].msg_hdr;
  header = {};
  const FabricAddress& to = packets[run.first].to;
  const bool favoured = favours(run.socket, to, run.tos);
  if (!favoured) {
    header.msg_name = &names_[message];
    header.msg_namelen = to_sockaddr(to, names_[message]);
  }
  header.msg_iov = &vectors_[first_vector];
  header.msg_iovlen = vector_count_ - first_vector;
  set_control(header, controls_[message], !favoured, run.tos,
              run.packets > 1 ? run.segment_bytes : 0);
}

void UdpTx::settle(std::span<TxPacket> packets, const Run& run, TxFate fate, int error) {
  for (uint32_t i = run.first; i != kNone; i = next_[i]) {
    packets[i].fate = fate;
    packets[i].error = fate == TxFate::never ? error : 0;
  }
  (fate == TxFate::sent    ? counters_.packets
   : fate == TxFate::later ? counters_.later
                           : counters_.never) += run.packets;
}

void UdpTx::hold_from(std::span<TxPacket> packets, uint32_t message, uint32_t count) {
  for (; message < count; ++message) {
    settle(packets, runs_[message_run_[message]], TxFate::later, 0);
  }
}

// Sends all runs of one socket, in order.
void UdpTx::flush(std::span<TxPacket> packets, uint32_t socket) {
  const int fd = fd_of(socket);
  reconsider_favourite(socket, fd);
  uint32_t count = 0;
  for (uint32_t i = 0; i < run_count_; ++i) {
    if (runs_[i].socket == socket) build(packets, i, count++);
  }
  if ((blocked_ >> socket & 1) != 0) return hold_from(packets, 0, count);

  uint32_t at = 0;
  uint32_t attempts = 0;  // at the message `at`
  while (at < count) {
    ++counters_.system_calls;
    const int sent = ::sendmmsg(fd, &headers_[at], count - at, 0);
    if (sent > 0) {
      counters_.messages += static_cast<uint32_t>(sent);
      for (int i = 0; i < sent; ++i) {
        settle(packets, runs_[message_run_[at++]], TxFate::sent, 0);
      }
      attempts = 0;
      continue;
    }
    const int error = errno;
    const Run& run = runs_[message_run_[at]];
    if (error == EINTR) continue;
    if (means_later(error)) {
      blocked_ |= uint64_t{1} << socket;
      return hold_from(packets, at, count);
    }
    error_seen_ = true;
    if (may_be_pending(error) && attempts++ == 0) {
      ++counters_.retries;
      continue;
    }
    attempts = 0;
    if (run.packets == 1 && (error != EMSGSIZE || run.bytes > kShortBytes)) {
      settle(packets, run, TxFate::never, error);
    } else if (!send_split(packets, run, error)) {
      blocked_ |= uint64_t{1} << socket;
      return hold_from(packets, at + 1, count);
    }
    ++at;
  }
}

// A run was refused as a whole: sends its packets one by one, so that only the guilty stay behind.
// False when the socket pushed back; the rest of the run is then `later`.
bool UdpTx::send_split(std::span<TxPacket> packets, const Run& run, int error) {
  ++counters_.split_runs;
  const int fd = fd_of(run.socket);
  const uint64_t insisted_before = counters_.insisted;
  bool all_sent = true;
  bool blocked = false;
  for (uint32_t i = run.first; i != kNone; i = next_[i]) {
    TxPacket& packet = packets[i];
    const int refusal = blocked ? EAGAIN : send_alone(packet, fd, run.tos);
    if (refusal == 0) {
      packet.fate = TxFate::sent;
      ++counters_.packets;
      continue;
    }
    all_sent = false;
    blocked = blocked || means_later(refusal);
    packet.fate = blocked ? TxFate::later : TxFate::never;
    packet.error = blocked ? 0 : refusal;
    ++(blocked ? counters_.later : counters_.never);
  }
  if (all_sent && means_no_gso(error) && counters_.insisted == insisted_before) {
    settings_.gso = false;  // nothing was wrong with the packets
    ++counters_.gso_disabled;
  }
  return !blocked;
}

// One packet, one call; returns 0 or the errno.
int UdpTx::send_alone(const TxPacket& packet, int fd, uint8_t tos) {
  // The vectors and names of this chunk's messages are still needed: use room of its own.
  std::array<iovec, TxBatch::kSlices + 1> vectors;
  SockAddr name;
  Control control;
  msghdr header{};
  header.msg_name = &name;
  header.msg_namelen = to_sockaddr(packet.to, name);
  header.msg_iov = vectors.data();
  vectors[0] = {packet.header, packet.header_bytes};
  for (uint32_t i = 0; i < packet.slice_count; ++i) {
    vectors[i + 1] = {const_cast<std::byte*>(packet.slices[i].data), packet.slices[i].length};
  }
  header.msg_iovlen = packet.slice_count + 1u;
  set_control(header, control, true, tos, 0);

  bool retried = false;
  for (;;) {
    ++counters_.system_calls;
    if (::sendmsg(fd, &header, 0) >= 0) {
      ++counters_.messages;
      return 0;
    }
    const int error = errno;
    if (error == EINTR) continue;
    if (!may_be_pending(error)) return error;
    if (retried) {
      if (error != EMSGSIZE || packet.bytes() > kShortBytes || !insist(fd)) return error;
      continue;
    }
    retried = true;
    ++counters_.retries;
  }
}

// A route that does not even carry the smallest payload is most likely a forged ICMP error, which
// the system believes for ten minutes. From here on the socket asks the interface only; packets are
// still never cut. False: it does so already, or cannot. [LF-141]
bool UdpTx::insist(int fd) {
  const bool ipv6 = settings_.local.family == FabricAddress::Family::ipv6;
  const int level = ipv6 ? IPPROTO_IPV6 : IPPROTO_IP;
  const int option = ipv6 ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER;
  int value = 0;
  socklen_t length = sizeof value;
  if (::getsockopt(fd, level, option, &value, &length) != 0 || value == IP_PMTUDISC_PROBE) {
    return false;
  }
  value = IP_PMTUDISC_PROBE;
  if (::setsockopt(fd, level, option, &value, sizeof value) != 0) return false;
  ++counters_.insisted;
  return true;
}

}  // namespace uet::io
