// The protocol between a process and a key agent on a Unix stream socket: frames of a length (4
// octets, big endian), a kind (1 octet) and a body. The length counts kind and body.
// docs/key-agent.md
#pragma once

#include "keys/secret_text.h"
#include "keys/whole_file.h"

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct sockaddr_un;

namespace uet::keys {

constexpr uint8_t kAgentVersion = 1;
constexpr size_t kFrameHeadBytes = 5;
constexpr size_t kProcessNameMax = 64;  // octets
constexpr size_t kErrorTextMax = 512;   // octets

enum class FrameKind : uint8_t {
  subscribe = 1,  // by a process, first and once: a version and the name of the process
  keys = 2,       // by an agent: the text of a key file, at first and after each change
  error = 3,      // by an agent, which ends the connection: text for people
};

struct Frame {
  FrameKind kind = FrameKind::error;
  SecretText body;
};

// The frames of one direction, put together from the pieces that arrive. Memory is taken for a
// frame of a legal kind and length only: 4 MiB at most for a process, 65 octets for an agent.
class FrameReader {
 public:
  enum class Reads : uint8_t {
    requests,  // of processes
    answers,   // of agents
  };
  enum class Progress : uint8_t {
    more,    // the frame is not whole yet
    whole,   // take() it
    broken,  // no frame of this direction; nothing that follows makes sense
  };

  explicit FrameReader(Reads reads) : reads_(reads) {}

  // Where the next octets go: at least one, and none of the next frame.
  std::span<char> room();
  // `bytes` octets were written to room().
  [[nodiscard]] Progress took(size_t bytes);
  // The frame that is whole; the next one begins.
  Frame take();
  bool is_begun() const { return head_bytes_ != 0; }

 private:
  Progress begin_body();

  Reads reads_;
  std::array<char, kFrameHeadBytes> head_{};
  size_t head_bytes_ = 0;
  Frame frame_;
  size_t body_bytes_ = 0;
};

// One read from a socket into a reader. Never waits.
enum class Received : uint8_t {
  some,     // there may be more
  frame,    // take() it
  nothing,  // not now
  ended,    // by the other side or an error
  broken,   // not this protocol
};
Received receive(int socket, FrameReader& reader);

// A whole frame. The body must fit its kind.
SecretText frame_of(FrameKind kind, std::string_view body);
// The body of a request.
std::string subscription(std::string_view process_name);
// The version of a request, and a name that may be shown on a terminal.
struct Subscription {
  uint8_t version = 0;
  std::string process_name;
};
std::optional<Subscription> parse_subscription(std::string_view body);

// Printable ASCII unchanged, all else as '?'.
std::string printable(std::string_view text);

// False: the path is empty or too long for a socket (107 octets).
bool set_socket_path(const std::string& path, sockaddr_un& address);
// The peer's user and process, from the kernel.
struct Peer {
  uid_t user = 0;
  pid_t process = 0;
};
std::optional<Peer> peer_of(int socket);

}  // namespace uet::keys
