// The packets of a comparison transport: a few numbers in place of a header.
// Lengths stand for payload.
#pragma once

#include <array>
#include <cstdint>

namespace uet::sim::transports {

using Picoseconds = int64_t;
inline constexpr Picoseconds kNever = INT64_MAX;
inline constexpr Picoseconds kMicrosecond = 1'000'000;
inline constexpr Picoseconds from_us(double us) { return static_cast<Picoseconds>(us * 1e6); }

enum class SegmentKind : uint8_t {
  data,
  ack,      // all below `below` has arrived, and what `bits` says
  nack,     // `number` has not arrived, or was cut
  cnp,      // congestion notification of RoCE: a marked packet has arrived
  request,  // asks for credit again, after a time-out
  pull,     // grants credit
};

struct Segment {
  Picoseconds sent_at = 0;     // data: when it left its host. Answers: that of the answered packet
  uint64_t credit = 0;         // octets since the flow began. Data: asked for. Pull: granted
  uint64_t bits = 0;           // ACK: bit i: packet number + i has arrived
  uint32_t flow = 0;           // that both ends know
  uint32_t number = 0;         // of the packet, from 0
  uint32_t below = 0;          // answers: every packet below this one has arrived
  uint32_t payload_bytes = 0;  // data: length at its transmission
  uint16_t path = 0;           // entropy value; answers: of the packet they answer
  SegmentKind kind = SegmentKind::data;
  bool is_marked = false;  // by a switch; answers: the packet they answer was
  bool is_trimmed = false;
  bool is_resent = false;
};
static_assert(sizeof(Segment) <= 64);

// Fields that switches write into a packet as they send it, one entry for each. [HPCC, section 3.1]
struct Telemetry {
  struct Hop {
    Picoseconds at = 0;
    uint64_t sent_bytes = 0;    // by the port, since the run began
    uint32_t queued_bytes = 0;  // behind the packet
    uint32_t mbps = 0;
  };
  std::array<Hop, 8> hops;
  uint32_t count = 0;  // entries; further switches leave none
};

}  // namespace uet::sim::transports
