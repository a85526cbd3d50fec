// One PDC as a ladder: its packets in the order in which they were sent, the packet that each one
// answers, and its message. The drawings (svg, page, json) read this and decide nothing.
#pragma once

#include "tools/pcap/ladder/conversation.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace uet::tools::ladder {

enum class Kind : uint8_t {
  data,  // requests, and the data of reads, which travels in requests
  ack,
  nack,
  control,
};
constexpr unsigned kKinds = 4;
const char* name(Kind kind);

// The fate of a packet. Known only if both ends were captured.
enum class Fate : uint8_t {
  not_known,
  arrived,
  lost,    // seen where it was sent, never where it should arrive
  unsent,  // seen only where it arrived: the network made it, or the sender's capture lacks it
};
const char* name(Fate fate);

// Why a packet was sent again.
enum class Cause : uint8_t {
  none,
  nack,
  sack,
  timeout,  // nothing in the capture asked for it
};
const char* name(Cause cause);

// Indices of other rungs are `kNone` if there is none.
constexpr uint32_t kNone = UINT32_MAX;

struct Rung {
  const Captured* captured = nullptr;
  uint32_t frame = 0;        // in the capture, the first is 1
  uint32_t other_frame = 0;  // in which the other end saw it; 0: none
  int64_t time_ns = 0;       // since the first packet of the PDC: sent, or seen
  int64_t arrived_ns = 0;    // fate arrived
  uint8_t way = 0;
  Kind kind = Kind::data;
  Fate fate = Fate::not_known;
  bool retransmission = false, duplicate = false, out_of_order = false;
  bool trimmed = false, rejected = false;
  bool has_psn = false;
  uint32_t psn = 0;     // of requests and control packets; of NACKs the one refused
  uint32_t octets = 0;  // payload
  std::string label;
  uint32_t message = kNone;
  uint32_t answers = kNone;   // for ACKs, NACKs: the transmission that this one names
  uint32_t acked_by = kNone;  // of requests: the first ACK that covers the PSN
  uint32_t nacked_by = kNone;
  uint32_t previous = kNone;  // transmission of the same PSN
  Cause cause = Cause::none;
  uint32_t caused_by = kNone;
};

// From the first packet of a SES message to its last, or to its response.
struct Message {
  uint16_t id = 0;  // 0: of a single packet that carries none
  uint8_t way = 0;
  wire::SesOpcode opcode{};
  uint32_t length = 0, seen = 0;  // octets
  uint32_t first = 0, last = 0;   // rungs
  uint32_t response = kNone;
};

struct Counts {
  std::array<uint32_t, kKinds> of_kind{};
  uint32_t retransmissions = 0, duplicates = 0, lost = 0;
};

struct Ladder {
  uint32_t number = 0;  // of the PDC, from 0 in the order of the capture
  Conversation conversation;
  bool both_ends = false;
  int64_t clock_ns = 0;  // shift of the target's times to fit those of the initiator
  std::vector<Rung> rungs;
  std::vector<Message> messages;
  Counts counts;
};

// The packets must outlive the ladder.
Ladder ladder_of(std::span<const Captured> packets, const Conversation& conversation,
                 uint32_t number, wire::Trailer trailer);

}  // namespace uet::tools::ladder
