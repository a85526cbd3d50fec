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
  // Half the kernel's figure holds octets; a part is kept free for unrequested packets.
  own_window_ = std::clamp(static_cast<uint32_t>(buffer) / 4 / kPayload, 4u, kWindow);
}

void Peer::connect(const FabricAddress& to) {
  SockAddr name;
  const socklen_t length = uet::io::to_sockaddr(to, name);
  connected_ = ::connect(socket_.get(), &name.any, length) == 0;
}

void Peer::begin_run(uint32_t run, const Shape& shape) {
  run_ = run;
  shape_ = shape;
  in_.complete = out_.number = 0;
  in_.expected = out_.next = out_.acked = 0;
  out_.count = 0;
  memory_.assign(std::min(std::max(shape.in, shape.out), shape.buffer), 'x');
  heard_.ready = heard_.bye = false;
}

// One system call for up to kSegments segments of the message being sent.
void Peer::send_segments(uint32_t first, uint32_t count) {
  Header headers[kSegments];
  iovec vectors[2 * kSegments];
  for (uint32_t i = 0; i < count; ++i) {
    headers[i].run = run_;
    headers[i].message = out_.number;
    headers[i].segment = first + i;
    headers[i].size = shape_.out;
    const uint32_t offset = (first + i) * kPayload;
    vectors[2 * i] = {&headers[i], kHeader};
    vectors[2 * i + 1] = {memory_.data() + offset % memory_.size(),
                          std::min(kPayload, shape_.out - offset)};
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
  if (first < out_.high) resent_ += std::min(count, out_.high - first);
  out_.high = std::max(out_.high, first + count);
}

void Peer::push() {
  while (out_.next < out_.count && out_.next - out_.acked < heard_.window) {
    const uint32_t room = heard_.window - (out_.next - out_.acked);
    const uint32_t count = std::min({out_.count - out_.next, room, gso_ ? kSegments : 1});
    send_segments(out_.next, count);
    out_.next += count;
  }
}

void Peer::send_control(Kind kind, uint32_t repeat) {
  Header h;
  h.kind = kind;
  h.run = run_;
  h.message = in_.complete + 1;
  h.segment = in_.expected;
  h.size = shape_.out;
  h.answer = shape_.in;
  h.buffer = shape_.buffer;
  h.window = own_window_;
  h.repeat = repeat;
  (void)!::send(socket_.get(), &h, sizeof h, 0);
}

void Peer::send_hello() { send_control(Kind::hello); }

void Peer::repeat_request() {
  const Instant now = monotonic_now();
  if (now - in_.asked_at < Duration::milliseconds(1)) return;
  in_.asked_at = now;
  send_control(Kind::credit, 1);
}

void Peer::on_data(const Header& h, const char* payload, uint32_t bytes) {
  if (h.message == in_.complete) {
    // We have the whole message, so the other side misses our answer: show its end.
    if (out_.count > 0) send_segments(out_.count - 1, 1);
    return;
  }
  if (h.message != in_.complete + 1 || h.segment < in_.expected || h.size != shape_.in) return;
  if (h.segment > in_.expected) return repeat_request();
  const uint32_t offset = h.segment * kPayload;
  if (offset >= shape_.in || bytes != std::min(kPayload, shape_.in - offset)) return;
  std::memcpy(memory_.data() + offset % memory_.size(), payload, bytes);
  ++in_.expected;
  const uint32_t total = segments_of(shape_.in);
  if (in_.expected == total) {
    ++in_.complete;
    in_.expected = in_.credited = 0;
  } else if (in_.expected - in_.credited >= own_window_ / 4 && in_.credited + own_window_ < total) {
    in_.credited = in_.expected;
    send_control(Kind::credit);
  }
}

void Peer::on_credit(const Header& h) {
  if (h.message != out_.number || h.segment > out_.count) return;
  out_.acked = std::max(out_.acked, h.segment);
  if (h.repeat != 0) out_.next = out_.acked = h.segment;
  push();
}

void Peer::on_segment(const Header& h, const char* payload, uint32_t bytes, const SockAddr& from) {
  if (h.magic != Header{}.magic) return;
  if (h.kind == Kind::hello) {
    heard_.window = std::clamp(h.window, 1u, kWindow);
    heard_.ready = heard_.ready || h.run == run_;
    heard_.offer = h;
    heard_.offered = true;
    if (!connected_) connect(io::from_sockaddr(from));
    // The client asks again when our answer was lost.
    if (server_ && h.run == run_) send_control(Kind::hello);
    return;
  }
  if (h.run != run_) return;
  if (h.kind == Kind::bye) heard_.bye = true;
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
  ++out_.number;
  out_.count = segments_of(shape_.out);
  out_.next = out_.acked = out_.high = 0;
  push();
}

bool Peer::receive_message() {
  const uint32_t before = in_.complete;
  const uint32_t run = run_;
  Instant active, begun;  // set at the first empty poll
  for (uint32_t idle = 0; in_.complete == before;) {
    if (poll()) {
      if (heard_.bye || (heard_.offered && heard_.offer.run != run)) return false;
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
    if (in_.expected > 0) {
      send_control(Kind::credit, 1);
    } else if (out_.count > 0) {
      send_segments(out_.count - 1, 1);
    }
  }
  return true;
}

}  // namespace uet::raw
