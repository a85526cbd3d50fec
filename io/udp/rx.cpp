// recvmmsg, control messages and cutting GRO super-packets.
#include "io/udp/rx.h"

#include <netinet/udp.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

namespace uet::io {
namespace {

// The control messages of one received message.
struct Marks {
  uint8_t tos = 0;
  uint32_t segment_bytes = 0;  // 0: not a super-packet
  Instant at;                  // of arrival
};

Marks read_marks(msghdr& header, const StampClock& clock) {
  Marks marks;
  marks.at = clock.now();
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    int value = 0;
    if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
      std::memcpy(&marks.tos, CMSG_DATA(c), 1);
    } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
      std::memcpy(&value, CMSG_DATA(c), sizeof value);
      marks.tos = static_cast<uint8_t>(value);
    } else if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
      std::memcpy(&value, CMSG_DATA(c), sizeof value);
      if (value > 0) marks.segment_bytes = static_cast<uint32_t>(value);
    } else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
      timespec stamp{};
      std::memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
      marks.at = clock.arrival(stamp.tv_sec, stamp.tv_nsec);
    }
  }
  return marks;
}

}  // namespace

bool UdpRx::attach(const Fd& socket, const Settings& settings) {
  const bool marks = settings.ipv6 ? set_option(socket, IPPROTO_IPV6, IPV6_RECVTCLASS, 1)
                                   : set_option(socket, IPPROTO_IP, IP_RECVTOS, 1);
  if (!marks) return false;
  // Without it a packet counts as arrived when it is read.
  (void)set_option(socket, SOL_SOCKET, SO_TIMESTAMPNS, 1);
  // Without GRO packets arrive one by one: slower, not wrong.
  if (settings.gro) (void)set_option(socket, IPPROTO_UDP, UDP_GRO, 1);

  fd_ = socket.get();
  settings_ = settings;
  pace_.configure(settings.buffer_bytes);
  messages_.allocate();
  return true;
}

void UdpRx::Messages::allocate() {
  memory_.reset(new std::byte[size_t{kMessages} * kStride]);
  for (uint32_t i = 0; i < kMessages; ++i) {
    vectors_[i] = {memory_.get() + size_t{i} * kStride, kMessageBytes};
    prepare(i);
  }
}

void UdpRx::Messages::prepare(uint32_t message) {
  msghdr& header = headers_[message].msg_hdr;
  header.msg_name = &names_[message];
  header.msg_namelen = sizeof names_[message];
  header.msg_iov = &vectors_[message];
  header.msg_iovlen = 1;
  header.msg_control = controls_[message].bytes.data();
  header.msg_controllen = kControlBytes;
  header.msg_flags = 0;
}

// Asks the kernel for messages; false when there are none, or it is not yet time.
bool UdpRx::fill() {
  if (pace_.may_be_stream() && pace_.is_resting(monotonic_now())) return false;
  for (uint32_t i = 0; i < message_count_; ++i) messages_.prepare(i);
  message_count_ = message_next_ = 0;
  if (ring_ != nullptr && !ring_->may_have_arrivals()) return on_empty();
  // An error that an earlier packet has left is reported here once and hides nothing: ask again.
  for (int attempt = 0; attempt < 3; ++attempt) {
    ++counters_.system_calls;
    const int count = ::recvmmsg(fd_, messages_.headers(), ask_, MSG_DONTWAIT, nullptr);
    if (count > 0) {
      message_count_ = static_cast<uint32_t>(count);
      clock_.read(monotonic_now());
      note_read(ask_);
      return true;
    }
    if (count == 0 || errno == EAGAIN) return on_empty();
    if (errno == EINTR) continue;
    error_seen_ = true;
    ++counters_.errors;
  }
  return false;
}

bool UdpRx::on_empty() {
  ask_ = 1;
  if (ring_ != nullptr) ring_->on_drained();
  if (pace_.may_be_stream()) pace_.on_nothing(monotonic_now());
  return false;
}

void UdpRx::note_read(uint32_t asked) {
  uint32_t octets = 0;
  for (uint32_t i = 0; i < message_count_; ++i) octets += messages_[i].msg_len;
  pace_.on_read(octets, message_count_ < asked, clock_.now());
  counters_.messages += message_count_;
  if (ring_ != nullptr && message_count_ < asked) ring_->on_drained();
  // Finding that there is no further message takes a tenth of the time of a small message. So after
  // a single packet only few are asked for; for a stream their number soon fills the table.
  ask_ = message_count_ == asked ? std::min(asked * 4, kMessages) : message_count_;
}

void UdpRx::open_message(uint32_t message) {
  msghdr& header = messages_[message].msg_hdr;
  if ((header.msg_flags & MSG_TRUNC) != 0) {
    ++counters_.truncated;
    return;
  }
  const Marks marks = read_marks(header, clock_);
  RxDatagram pattern;
  pattern.from = from_sockaddr(messages_.from(message));
  pattern.ev = Entropy(pattern.from.port);  // [WIRE-007]
  pattern.dscp = marks.tos >> 2;
  pattern.ecn = static_cast<Ecn>(marks.tos & 3);
  pattern.at = marks.at;
  std::span<std::byte> octets = messages_.octets(message);
  if (settings_.native.is_used() && !take_native_headers(pattern, octets)) return;
  segments_.open(pattern, octets, marks.segment_bytes);
}

// Packets of a raw socket begin with the IPv4 header, which the kernel has checked; with IPv6 they
// begin with the entropy header. False: the packet was dropped. [WIRE-010, WIRE-013]
bool UdpRx::take_native_headers(RxDatagram& pattern, std::span<std::byte>& octets) {
  const bool ipv6 = pattern.from.family == FabricAddress::Family::ipv6;
  const size_t ip_header = ipv6 ? 0 : kIpv4Header;
  const bool has_options = !ipv6 && !octets.empty() && octets[0] != std::byte{0x45};
  NativeVerdict verdict = NativeVerdict::stump;
  if (octets.size() >= ip_header && !has_options) {
    octets = octets.subspan(ip_header);
    verdict = take_native(settings_.native, pattern, octets);
  }
  if (verdict == NativeVerdict::stump) ++counters_.truncated;
  if (verdict == NativeVerdict::bad_crc) ++counters_.bad_crc;
  return verdict == NativeVerdict::good;
}

std::span<RxDatagram> UdpRx::receive() {
  uint32_t count = 0;
  while (count < datagrams_.size()) {
    if (segments_.is_open()) {
      segments_.cut(datagrams_[count++]);
      continue;
    }
    if (message_next_ == message_count_ && (count > 0 || !fill())) break;
    open_message(message_next_++);
  }
  counters_.datagrams += count;
  return {datagrams_.data(), count};
}

}  // namespace uet::io
