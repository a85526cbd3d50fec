// Joining packets into runs, sending runs, and finding out whose fault a refusal is.
#include "io/udp/tx.h"

#include "io/frame/frame.h"

#include "base/crc32c.h"

#include <netinet/udp.h>

#include <cerrno>
#include <cstring>
#include <optional>

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

// tos: nothing if the socket marks by itself; segment_bytes: 0 if it is not a super-packet.
void set_control(msghdr& header, TxControl& control, bool ipv6, std::optional<uint8_t> tos,
                 uint32_t segment_bytes) {
  std::byte* at = control.bytes.data();
  const auto append = [&at](int level, int type, const void* value, size_t length) {
    auto* const c = reinterpret_cast<cmsghdr*>(at);
    c->cmsg_level = level;
    c->cmsg_type = type;
    c->cmsg_len = CMSG_LEN(length);
    std::memcpy(CMSG_DATA(c), value, length);
    at += CMSG_SPACE(length);
  };
  if (tos) {
    const int value = *tos;
    append(ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, ipv6 ? IPV6_TCLASS : IP_TOS, &value, sizeof value);
  }
  if (segment_bytes != 0) {
    const auto segment = static_cast<uint16_t>(segment_bytes);
    append(IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof segment);
  }
  header.msg_controllen = static_cast<size_t>(at - control.bytes.data());
  header.msg_control = header.msg_controllen > 0 ? control.bytes.data() : nullptr;
}

}  // namespace

void UdpTx::configure(const UdpTxSockets::Settings& settings, bool gso, int epoll, int fallback) {
  sockets_.configure(settings, epoll, fallback);
  gso_ = gso;
  if (settings.native.crc) rooms_.reset(new std::byte[size_t{kRuns + 1} * kNativeRoomBytes]);
}

void UdpTx::send(std::span<TxPacket> packets) {
  blocked_ = 0;
  while (!packets.empty()) {
    runs_.clear();
    used_ = 0;
    const uint32_t taken = take_chunk(packets);
    // For one socket a call of its own is as good.
    if (has_many_sockets() && ring_ != nullptr && ring_->is_mine()) {
      flush_by_ring(packets);
      used_ = 0;
    }
    for (uint32_t i = 0; i < runs_.count() && used_ != 0; ++i) {
      const uint64_t socket = uint64_t{1} << runs_[i].socket;
      if ((used_ & socket) != 0) flush(packets, runs_[i].socket);
      used_ &= ~socket;
    }
    packets = packets.subspan(taken);
  }
}

// Sorts as many packets as the tables hold into runs; returns how many were looked at. A chunk of
// several sockets ends where packets without payload follow those with payload, because the first
// socket would send its share of them before the payload of the next socket.
uint32_t UdpTx::take_chunk(std::span<TxPacket> packets) {
  uint32_t vectors = 0;
  uint32_t at = 0;
  for (; at < packets.size() && at < kRuns; ++at) {
    const bool is_end_of_payload =
        at > 0 && packets[at].payload_bytes == 0 && packets[at - 1].payload_bytes != 0;
    if (is_end_of_payload && has_many_sockets()) break;
    const uint32_t needed = admit(packets[at]);
    if (needed == 0) continue;
    if (vectors + needed > kVectors) break;
    vectors += needed;
    const uint32_t socket = sockets_.index_of(packets[at].ev);
    used_ |= uint64_t{1} << socket;
    runs_.add(packets, at, socket, gso_);
  }
  return at;
}

// Refuses what can never be sent; returns the vectors that the packet needs, 0 for refused.
uint32_t UdpTx::admit(TxPacket& packet) {
  packet.fate = TxFate::never;
  packet.error = 0;
  if (packet.to.family != sockets_.family()) packet.error = EAFNOSUPPORT;
  if (packet.slice_count > TxBatch::kSlices) packet.error = EINVAL;
  const NativeFormat& native = sockets_.native();
  if (native.crc && packet.bytes() > kNativeRoomBytes - native.around_bytes(packet)) {
    packet.error = EMSGSIZE;
  }
  if (packet.error == 0) return packet.slice_count + (native.is_used() ? 2u : 1u);
  ++counters_.never;
  return 0;
}

bool UdpTx::Run::takes(const TxPacket& packet, uint8_t its_tos) const {
  return !closed && tos == its_tos && packets < kSegmentsMax && packet.bytes() > 0 &&
         packet.bytes() <= segment_bytes && bytes + packet.bytes() <= kSuperBytesMax;
}

void UdpTx::Runs::add(std::span<const TxPacket> packets, uint32_t index, uint32_t socket,
                      bool gso) {
  const TxPacket& packet = packets[index];
  const uint8_t tos = tos_of(packet);
  next_[index] = kNone;
  // Only the latest run to this destination may grow: an older one would overtake.
  for (uint32_t i = gso ? count_ : 0; i > 0; --i) {
    Run& run = runs_[i - 1];
    if (run.socket != socket || packets[run.first].to != packet.to) continue;
    if (!run.takes(packet, tos)) break;
    next_[run.last] = index;
    run.last = index;
    run.bytes += packet.bytes();
    ++run.packets;
    run.closed = packet.bytes() < run.segment_bytes;
    return;
  }
  runs_[count_++] = {socket, index, index, 1, packet.bytes(), packet.bytes(), tos, false};
}

void UdpTx::Messages::add(std::span<const TxPacket> packets, const Runs& runs, uint32_t run_index,
                          const UdpTxSockets& sockets, std::byte* rooms, bool favoured) {
  const Run& run = runs[run_index];
  run_[count_] = run_index;
  done_[count_] = tried_[count_] = false;
  const uint32_t first_vector = vector_count_;
  if (sockets.native().is_used()) {
    std::byte* const room = rooms == nullptr ? nullptr : rooms + size_t{count_} * kNativeRoomBytes;
    vector_count_ += gather_native(packets[run.first], sockets.native(), entropy_[count_], room,
                                   &vectors_[vector_count_]);
  }
  for (uint32_t i = run.first; i != kNone && !sockets.native().is_used(); i = runs.next(i)) {
    vector_count_ += gather_packet(packets[i], &vectors_[vector_count_]);
  }
  msghdr& header = headers_[count_].msg_hdr;
  header = {};
  const FabricAddress& to = packets[run.first].to;
  if (!favoured) {
    header.msg_name = &names_[count_];
    header.msg_namelen = sockets.name_of(to, names_[count_]);
  }
  header.msg_iov = &vectors_[first_vector];
  header.msg_iovlen = vector_count_ - first_vector;
  set_control(header, controls_[count_], to.family == FabricAddress::Family::ipv6,
              favoured ? std::nullopt : std::optional(run.tos),
              run.packets > 1 ? run.segment_bytes : 0);
  ++count_;
}

void UdpTx::set_fate(std::span<TxPacket> packets, const Run& run, TxFate fate, int error) {
  for (uint32_t i = run.first; i != kNone; i = runs_.next(i)) {
    packets[i].fate = fate;
    packets[i].error = fate == TxFate::never ? error : 0;
  }
  (fate == TxFate::sent    ? counters_.packets
   : fate == TxFate::later ? counters_.later
                           : counters_.never) += run.packets;
}

// Marks this socket's packets from `message` on as `later`: none of them was sent.
void UdpTx::hold_from(std::span<TxPacket> packets, uint32_t message, uint32_t socket) {
  blocked_ |= uint64_t{1} << socket;
  for (; message < messages_.count(); ++message) {
    const Run& run = runs_[messages_.run_of(message)];
    if (run.socket != socket) continue;
    set_fate(packets, run, TxFate::later, 0);
    messages_.set_done(message);
  }
}

// A message for each run of the socket.
void UdpTx::add_messages(std::span<const TxPacket> packets, uint32_t socket) {
  sockets_.reconsider_favourite(socket);
  for (uint32_t i = 0; i < runs_.count(); ++i) {
    const Run& run = runs_[i];
    if (run.socket != socket) continue;
    messages_.add(packets, runs_, i, sockets_, rooms_.get(),
                  sockets_.favours(socket, packets[run.first].to, run.tos));
  }
}

// Sends all runs of one socket, in order.
void UdpTx::flush(std::span<TxPacket> packets, uint32_t socket) {
  const int fd = sockets_.fd_of(socket);
  messages_.clear();
  add_messages(packets, socket);
  if ((blocked_ >> socket & 1) != 0) return hold_from(packets, 0, socket);

  uint32_t at = 0;
  while (at < messages_.count()) {
    ++counters_.system_calls;
    const int sent = ::sendmmsg(fd, messages_.from(at), messages_.count() - at, 0);
    if (sent > 0) {
      counters_.messages += static_cast<uint32_t>(sent);
      for (int i = 0; i < sent; ++i) {
        set_fate(packets, runs_[messages_.run_of(at++)], TxFate::sent, 0);
      }
      continue;
    }
    switch (judge(packets, at, errno)) {
      case Verdict::done:
        ++at;
        break;
      case Verdict::again:
        break;
      case Verdict::later:
        return hold_from(packets, at, socket);
      case Verdict::full:
        return hold_from(packets, at + 1, socket);
    }
  }
}

// Sends all runs, those of one socket in order: the first message of each socket by one call, then
// the second of each, and so on.
void UdpTx::flush_by_ring(std::span<TxPacket> packets) {
  messages_.clear();
  for (uint32_t i = 0; i < runs_.count(); ++i) {
    const uint32_t socket = runs_[i].socket;
    if ((used_ >> socket & 1) == 0) continue;
    used_ &= ~(uint64_t{1} << socket);
    const uint32_t first = messages_.count();
    add_messages(packets, socket);
    if ((blocked_ >> socket & 1) != 0) hold_from(packets, first, socket);
  }
  while (send_wave(packets)) {
  }
}

// False when every message has been dealt with.
bool UdpTx::send_wave(std::span<TxPacket> packets) {
  std::array<UdpDeparture, UdpRing::kDepartures> departures;
  std::array<uint32_t, UdpRing::kDepartures> messages;
  static_assert(UdpTxSockets::kEntropyMax <= UdpRing::kDepartures);
  uint32_t count = 0;
  uint64_t taken = 0;
  for (uint32_t i = 0; i < messages_.count(); ++i) {
    const uint32_t socket = runs_[messages_.run_of(i)].socket;
    if (messages_.is_done(i) || (taken >> socket & 1) != 0) continue;
    taken |= uint64_t{1} << socket;
    departures[count] = {sockets_.fd_of(socket), &messages_.from(i)->msg_hdr, 0};
    messages[count++] = i;
  }
  if (count == 0) return false;

  ++counters_.system_calls;
  const bool is_usable = ring_->send(std::span(departures).first(count));
  for (uint32_t i = 0; i < count; ++i) {
    const Run& run = runs_[messages_.run_of(messages[i])];
    if (departures[i].error == 0) {
      ++counters_.messages;
      set_fate(packets, run, TxFate::sent, 0);
      messages_.set_done(messages[i]);
      continue;
    }
    switch (judge(packets, messages[i], departures[i].error)) {
      case Verdict::done:
        messages_.set_done(messages[i]);
        break;
      case Verdict::again:
        break;
      case Verdict::later:
        hold_from(packets, messages[i], run.socket);
        break;
      case Verdict::full:
        hold_from(packets, messages[i] + 1, run.socket);
        messages_.set_done(messages[i]);
        break;
    }
  }
  for (uint32_t i = 0; i < messages_.count() && !is_usable; ++i) {
    if (!messages_.is_done(i)) hold_from(packets, i, runs_[messages_.run_of(i)].socket);
  }
  return true;
}

UdpTx::Verdict UdpTx::judge(std::span<TxPacket> packets, uint32_t message, int error) {
  const Run& run = runs_[messages_.run_of(message)];
  if (error == EINTR) return Verdict::again;
  if (means_later(error)) return Verdict::later;
  error_seen_ = true;
  if (may_be_pending(error) && !messages_.was_tried(message)) {
    ++counters_.retries;
    return Verdict::again;
  }
  if (run.packets == 1 && (error != EMSGSIZE || run.bytes > kShortBytes)) {
    set_fate(packets, run, TxFate::never, error);
    return Verdict::done;
  }
  return send_split(packets, run, error) ? Verdict::done : Verdict::full;
}

// A run was refused as a whole: sends its packets one by one, so that only the guilty stay behind.
// False when the socket pushed back; the rest of the run is then `later`.
bool UdpTx::send_split(std::span<TxPacket> packets, const Run& run, int error) {
  ++counters_.split_runs;
  const int fd = sockets_.fd_of(run.socket);
  const uint64_t insisted_before = counters_.insisted;
  bool all_sent = true;
  bool blocked = false;
  for (uint32_t i = run.first; i != kNone; i = runs_.next(i)) {
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
    gso_ = false;  // nothing was wrong with the packets
    ++counters_.gso_disabled;
  }
  return !blocked;
}

// One packet, one call; returns 0 or the errno.
int UdpTx::send_alone(const TxPacket& packet, int fd, uint8_t tos) {
  // The vectors and names of this chunk's messages are still needed: use room of its own.
  std::array<iovec, TxBatch::kSlices + 2> vectors;
  EntropyOctets entropy;
  std::byte* const room =
      rooms_ == nullptr ? nullptr : rooms_.get() + size_t{kRuns} * kNativeRoomBytes;
  SockAddr name;
  TxControl control;
  msghdr header{};
  header.msg_name = &name;
  header.msg_namelen = sockets_.name_of(packet.to, name);
  header.msg_iov = vectors.data();
  header.msg_iovlen = sockets_.native().is_used()
                          ? gather_native(packet, sockets_.native(), entropy, room, vectors.data())
                          : gather_packet(packet, vectors.data());
  set_control(header, control, packet.to.family == FabricAddress::Family::ipv6, tos, 0);

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
      if (error != EMSGSIZE || packet.bytes() > kShortBytes || !sockets_.insist(fd)) {
        return error;
      }
      ++counters_.insisted;
      continue;
    }
    retried = true;
    ++counters_.retries;
  }
}

}  // namespace uet::io
