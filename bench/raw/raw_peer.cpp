// Cutting, sending, receiving and repeating.
#include "bench/raw/raw_peer.h"

#include <netinet/udp.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#define UDP_GRO 104
#endif

namespace uet::raw {
namespace {

using io::monotonic_now;

constexpr uint32_t kSegments = 15;  // of one super-packet: 15 x 4160 < 65487
constexpr uint32_t kWindow = (1u << 20) / kPayload;
constexpr Duration kPatience = Duration::milliseconds(20);

uint32_t segments_of(uint32_t size) { return (size + kPayload - 1) / kPayload; }

}  // namespace

Peer::Peer(Fd socket, bool gso, bool server)
    : socket_(std::move(socket)), gso_(gso), server_(server) {
  const int buffer = io::get_option(socket_, SOL_SOCKET, SO_RCVBUF, 0);
  // Half the kernel's figure holds octets; keep a part for what is on its way to us unasked.
  own_window_ = std::clamp(static_cast<uint32_t>(buffer) / 4 / kPayload, 4u, kWindow);
}

void Peer::connect(const FabricAddress& to) {
  SockAddr name;
  const socklen_t length = uet::io::to_sockaddr(to, name);
  connected_ = ::connect(socket_.get(), &name.any, length) == 0;
}

void Peer::begin_run(uint32_t run, uint32_t size) {
  run_ = run;
  size_ = size;
  received_ = sent_ = 0;
  expected_ = tx_next_ = tx_acked_ = 0;
  tx_count_ = 0;
  memory_.assign(size, 'x');
  ready_ = bye_ = false;
}

// One system call for up to kSegments segments of the message being sent.
void Peer::send_segments(uint32_t first, uint32_t count) {
  Header headers[kSegments];
  iovec vectors[2 * kSegments];
  for (uint32_t i = 0; i < count; ++i) {
    headers[i].run = run_;
    headers[i].message = sent_;
    headers[i].segment = first + i;
    headers[i].size = size_;
    const uint32_t offset = (first + i) * kPayload;
    vectors[2 * i] = {&headers[i], kHeader};
    vectors[2 * i + 1] = {memory_.data() + offset, std::min(kPayload, size_ - offset)};
  }
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(uint16_t))];
  msghdr message{};
  message.msg_iov = vectors;
  message.msg_iovlen = 2 * size_t{count};
  if (count > 1) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = IPPROTO_UDP;
    c->cmsg_type = UDP_SEGMENT;
    c->cmsg_len = CMSG_LEN(sizeof(uint16_t));
    const uint16_t segment = kHeader + kPayload;
    std::memcpy(CMSG_DATA(c), &segment, sizeof segment);
  }
  // A refusal is a loss like any other.
  while (::sendmsg(socket_.get(), &message, 0) < 0 && (errno == EINTR || errno == EAGAIN)) {
  }
  if (first < tx_high_) resent_ += std::min(count, tx_high_ - first);
  tx_high_ = std::max(tx_high_, first + count);
}

void Peer::push() {
  while (tx_next_ < tx_count_ && tx_next_ - tx_acked_ < peer_window_) {
    const uint32_t room = peer_window_ - (tx_next_ - tx_acked_);
    const uint32_t count = std::min({tx_count_ - tx_next_, room, gso_ ? kSegments : 1});
    send_segments(tx_next_, count);
    tx_next_ += count;
  }
}

void Peer::send_control(Kind kind, uint32_t repeat) {
  Header h;
  h.kind = kind;
  h.run = run_;
  h.message = received_ + 1;
  h.segment = expected_;
  h.size = size_;
  h.window = own_window_;
  h.repeat = repeat;
  (void)!::send(socket_.get(), &h, sizeof h, 0);
}

void Peer::repeat_request() {
  const Instant now = monotonic_now();
  if (now - asked_at_ < Duration::milliseconds(1)) return;
  asked_at_ = now;
  send_control(Kind::credit, 1);
}

void Peer::on_data(const Header& h, const char* payload, uint32_t bytes) {
  if (h.message == received_) {
    // We have all of it, so what the other side misses is our answer: show its end.
    if (tx_count_ > 0) send_segments(tx_count_ - 1, 1);
    return;
  }
  if (h.message != received_ + 1 || h.segment < expected_ || h.size != size_) return;
  if (h.segment > expected_) return repeat_request();
  const uint32_t offset = h.segment * kPayload;
  if (offset >= size_ || bytes != std::min(kPayload, size_ - offset)) return;
  std::memcpy(memory_.data() + offset, payload, bytes);
  ++expected_;
  const uint32_t total = segments_of(size_);
  if (expected_ == total) {
    ++received_;
    expected_ = credited_ = 0;
  } else if (expected_ - credited_ >= own_window_ / 4 && credited_ + own_window_ < total) {
    credited_ = expected_;
    send_control(Kind::credit);
  }
}

void Peer::on_credit(const Header& h) {
  if (h.message != sent_ || h.segment > tx_count_) return;
  tx_acked_ = std::max(tx_acked_, h.segment);
  if (h.repeat != 0) tx_next_ = tx_acked_ = h.segment;
  push();
}

void Peer::on_segment(const Header& h, const char* payload, uint32_t bytes, const SockAddr& from) {
  if (h.magic != Header{}.magic) return;
  if (h.kind == Kind::hello) {
    peer_window_ = std::clamp(h.window, 1u, kWindow);
    ready_ = ready_ || h.run == run_;
    offer_ = h;
    offered_ = true;
    if (!connected_) connect(io::from_sockaddr(from));
    // The client asks again when our answer was lost.
    if (server_ && h.run == run_) send_control(Kind::hello);
    return;
  }
  if (h.run != run_) return;
  if (h.kind == Kind::bye) bye_ = true;
  if (h.kind == Kind::data) on_data(h, payload, bytes);
  if (h.kind == Kind::credit) on_credit(h);
}

bool Peer::poll() {
  SockAddr from{};
  alignas(cmsghdr) char control[128];
  iovec vector{buffer_.get(), 65536};
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t length = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT);
  if (length < 0) return false;

  auto segment = static_cast<size_t>(length);
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    int value = 0;
    if (c->cmsg_level != IPPROTO_UDP || c->cmsg_type != UDP_GRO) continue;
    std::memcpy(&value, CMSG_DATA(c), sizeof value);
    if (value > 0) segment = static_cast<size_t>(value);
  }
  for (size_t at = 0; at < static_cast<size_t>(length); at += segment) {
    const size_t bytes = std::min(segment, static_cast<size_t>(length) - at);
    if (bytes < kHeader) continue;
    Header h;
    std::memcpy(&h, buffer_.get() + at, sizeof h);
    on_segment(h, buffer_.get() + at + kHeader, static_cast<uint32_t>(bytes - kHeader), from);
  }
  return true;
}

void Peer::send_message() {
  ++sent_;
  tx_count_ = segments_of(size_);
  tx_next_ = tx_acked_ = tx_high_ = 0;
  push();
}

bool Peer::receive_message() {
  const uint32_t before = received_;
  const uint32_t run = run_;
  Instant active, begun;  // set at the first empty poll
  for (uint32_t idle = 0; received_ == before;) {
    if (poll()) {
      if (bye_ || (offered_ && offer_.run != run)) return false;
      idle = 0;
      active = Instant();
      continue;
    }
    // The clock costs as much as a poll: look at it now and then.
    if (++idle % 64 != 0) continue;
    const Instant now = monotonic_now();
    if (active == Instant()) active = now;
    if (begun == Instant()) begun = now;
    if (now - begun > kGiveUp) return false;
    if (now - active < kPatience) continue;
    active = now;
    if (expected_ > 0) {
      send_control(Kind::credit, 1);
    } else if (tx_count_ > 0) {
      send_segments(tx_count_ - 1, 1);
    }
  }
  return true;
}

}  // namespace uet::raw
