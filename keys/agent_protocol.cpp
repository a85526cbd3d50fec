// Frames and sockets of key agents.
#include "keys/agent_protocol.h"

#include "base/assert.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace uet::keys {

namespace {

// Length of the body. Nothing: no such kind, or not in this direction.
std::optional<size_t> body_max(FrameReader::Reads reads, uint8_t kind) {
  const bool is_request = reads == FrameReader::Reads::requests;
  switch (static_cast<FrameKind>(kind)) {
    case FrameKind::subscribe:
      if (is_request) return 1 + kProcessNameMax;
      return {};
    case FrameKind::keys:
      if (!is_request) return kFileBytesMax;
      return {};
    case FrameKind::error:
      if (!is_request) return kErrorTextMax;
      return {};
  }
  return {};
}

uint32_t octet(char c) { return static_cast<unsigned char>(c); }

}  // namespace

std::span<char> FrameReader::room() {
  if (head_bytes_ < kFrameHeadBytes) return std::span(head_).subspan(head_bytes_);
  return frame_.body.octets().subspan(body_bytes_);
}

FrameReader::Progress FrameReader::took(size_t bytes) {
  UET_ASSERT(bytes <= room().size());
  if (head_bytes_ == kFrameHeadBytes) {
    body_bytes_ += bytes;
  } else {
    head_bytes_ += bytes;
    if (head_bytes_ < kFrameHeadBytes) return Progress::more;
    return begin_body();
  }
  return body_bytes_ == frame_.body.view().size() ? Progress::whole : Progress::more;
}

// Judged before any memory is taken.
FrameReader::Progress FrameReader::begin_body() {
  const uint32_t length =
      octet(head_[0]) << 24 | octet(head_[1]) << 16 | octet(head_[2]) << 8 | octet(head_[3]);
  const auto kind = static_cast<uint8_t>(head_[4]);
  const std::optional<size_t> most = body_max(reads_, kind);
  if (!most || length == 0 || length - 1 > *most) return Progress::broken;
  frame_ = {static_cast<FrameKind>(kind), SecretText(length - 1)};
  body_bytes_ = 0;
  return length == 1 ? Progress::whole : Progress::more;
}

Frame FrameReader::take() {
  UET_ASSERT(head_bytes_ == kFrameHeadBytes && body_bytes_ == frame_.body.view().size());
  head_bytes_ = body_bytes_ = 0;
  return std::exchange(frame_, Frame{});
}

Received receive(int socket, FrameReader& reader) {
  const std::span<char> room = reader.room();
  const ssize_t got = ::recv(socket, room.data(), room.size(), MSG_DONTWAIT);
  if (got == 0) return Received::ended;
  if (got < 0) {
    if (errno == EINTR) return Received::some;
    return errno == EAGAIN || errno == EWOULDBLOCK ? Received::nothing : Received::ended;
  }
  switch (reader.took(static_cast<size_t>(got))) {
    case FrameReader::Progress::more:
      return Received::some;
    case FrameReader::Progress::whole:
      return Received::frame;
    case FrameReader::Progress::broken:
      return Received::broken;
  }
  return Received::broken;
}

SecretText frame_of(FrameKind kind, std::string_view body) {
  UET_ASSERT(body.size() <= kFileBytesMax);
  SecretText frame(kFrameHeadBytes + body.size());
  const std::span<char> to = frame.octets();
  const auto length = static_cast<uint32_t>(1 + body.size());
  for (int i = 0; i < 4; ++i)
    to[static_cast<size_t>(i)] = static_cast<char>(length >> (24 - 8 * i));
  to[4] = static_cast<char>(kind);
  std::copy(body.begin(), body.end(), to.begin() + kFrameHeadBytes);
  return frame;
}

std::string subscription(std::string_view process_name) {
  return std::string(1, static_cast<char>(kAgentVersion)) +
         printable(process_name.substr(0, kProcessNameMax));
}

std::optional<Subscription> parse_subscription(std::string_view body) {
  if (body.empty()) return {};
  return Subscription{static_cast<uint8_t>(body[0]), printable(body.substr(1))};
}

std::string printable(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

bool set_socket_path(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  return true;
}

std::optional<Peer> peer_of(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return {};
  return Peer{peer.uid, peer.pid};
}

}  // namespace uet::keys
