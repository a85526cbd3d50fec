// One end of a raw UDP ping-pong: one socket, messages cut into segments, GSO and GRO, credit so
// that no buffer overflows, and resends for lost segments. See raw_pingpong.cpp.
#pragma once

#include "io/socket.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace uet::raw {

using io::Fd;
using io::SockAddr;

constexpr uint32_t kPayload = 4096;
constexpr uint32_t kHeader = 64;  // as much as a UET packet carries
constexpr uint32_t kMessageMax = 1u << 30;
constexpr Duration kGiveUp = Duration::seconds(60);

enum class Kind : uint32_t {
  data,
  credit,  // everything before `segment` has arrived; `repeat`: go on from there
  hello,   // client: a run begins; server: ready for it
  bye
};

struct Header {
  uint32_t magic = 0x55475050;
  Kind kind = Kind::data;
  uint32_t run = 0;      // one size
  uint32_t message = 0;  // counts both directions
  uint32_t segment = 0;
  uint32_t size = 0;  // of the message
  uint32_t window = 0;
  uint32_t repeat = 0;
  uint32_t answer = 0;  // hello: octets of the messages that the server sends
  uint32_t buffer = 0;  // hello: see Shape
  uint32_t rest[6] = {};
};
static_assert(sizeof(Header) == kHeader);

class Peer {
 public:
  // The receive buffer must have its final size. A server answers hellos.
  Peer(Fd socket, bool gso, bool server);

  void connect(const FabricAddress& to);
  // Messages of `out` octets leave, messages of `in` octets come. Both take their payload from, or
  // put it into, the same `buffer` octets again and again; a longer message needs a multiple of
  // kPayload there.
  struct Shape {
    uint32_t out;
    uint32_t in;
    uint32_t buffer;
  };
  void begin_run(uint32_t run, const Shape& shape);

  // Asks the server for a run: it shall expect this end's messages.
  void send_hello();
  // Sends as much of a message as credit allows; poll() sends the rest as credit arrives.
  void send_message();
  // False when the other side is gone, or said bye or began another run.
  bool receive_message();
  void send_control(Kind kind, uint32_t repeat = 0);
  // Takes one message from the socket; false when there is none.
  bool poll();

  uint32_t run() const { return run_; }
  uint32_t resent() const { return resent_; }
  bool ready() const { return heard_.ready; }
  bool bye() const { return heard_.bye; }
  const Header& offer() const { return heard_.offer; }
  bool take_offer() { return std::exchange(heard_.offered, false); }

 private:
  void on_segment(const Header& h, const char* payload, uint32_t bytes, const SockAddr& from);
  void on_data(const Header& h, const char* payload, uint32_t bytes);
  void on_credit(const Header& h);
  void push();
  void send_segments(uint32_t first, uint32_t count);
  void repeat_request();

  // The outgoing message, and how much of it the other side has.
  struct Outgoing {
    uint32_t number = 0;  // messages begun
    uint32_t count = 0;   // its segments
    uint32_t next = 0;
    uint32_t acked = 0;
    uint32_t high = 0;  // segments below it were sent before
  };
  // The message that comes in.
  struct Incoming {
    uint32_t complete = 0;  // messages
    uint32_t expected = 0;  // next segment of the incoming message
    uint32_t credited = 0;
    Instant asked_at;
  };
  // Control messages of the other side.
  struct Heard {
    bool ready = false;
    bool bye = false;
    bool offered = false;
    Header offer;
    uint32_t window = 4;
  };

  Fd socket_;
  bool gso_;
  bool server_;
  bool connected_ = false;
  uint32_t run_ = 0;  // 0: none yet
  Shape shape_{};
  uint32_t own_window_;
  std::vector<char> memory_;
  Outgoing out_;
  Incoming in_;
  Heard heard_;
  uint32_t resent_ = 0;
  std::unique_ptr<char[]> buffer_{new char[65536]};
};

}  // namespace uet::raw
