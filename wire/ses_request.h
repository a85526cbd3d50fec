// The three SES request headers and their common front. Extension headers are in ses_extension.h.
//
// parse() refuses a version other than 0 [WIRE-116]. SES answers such a request, so it may read()
// the same octets again: all fields stay where version 0 has them.
#pragma once

#include "wire/code_points.h"
#include "wire/parse_error.h"
#include "wire/reader.h"
#include "wire/writer.h"

#include "base/serial.h"

namespace uet::wire {

// 3, 4, 0x0D, 0x0E: an atomic or compare-and-swap extension follows. [WIRE-070, WIRE-072]
constexpr bool has_atomic_extension(SesOpcode o) {
  return o == SesOpcode::atomic || o == SesOpcode::fetching_atomic ||
         o == SesOpcode::tsend_atomic || o == SesOpcode::tsend_fetch_atomic;
}
// 6, 0x0A: a rendezvous extension follows a standard header. [WIRE-068]
constexpr bool has_rendezvous_extension(SesOpcode o) {
  return o == SesOpcode::rendezvous_send || o == SesOpcode::rendezvous_tsend;
}
// 8, 0x0B: restart tokens instead of a buffer offset. [WIRE-063]
constexpr bool is_deferrable_send(SesOpcode o) {
  return o == SesOpcode::deferrable_send || o == SesOpcode::deferrable_tsend;
}
// 1-4: the 64 bits after the initiator are a memory key, not match bits. [WIRE-060]
constexpr bool has_memory_key(SesOpcode o) {
  return o >= SesOpcode::write && o <= SesOpcode::fetching_atomic;
}

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// |..|  opcode(6) |ver|dc|ie|rel|hd|eom|som| message_id / length  |
// | ri_generation |                   job_id (24)                 |
// |.......|    pid_on_fep (12)    |.......|   resource_index (12) |
// The last 16 bits of the first row belong to the header around it. [WIRE-059]
struct RequestCommon {
  static constexpr uint32_t kSize = 12;

  SesOpcode opcode = SesOpcode::no_op;  // 6 bits
  uint8_t ver = 0;                      // 2 bits
  bool dc = false;                      // respond only when the data is globally visible
  bool ie = false;                      // the message failed at its source
  bool rel = false;                     // relative addressing
  bool hd = false;                      // header data present; reserved in the small header
  bool eom = false;                     // last packet of the message
  bool som = false;                     // first packet of the message
  uint8_t ri_generation = 0;
  JobId job_id{};                  // 24 bits
  PidOnFep pid_on_fep{};           // 12 bits
  ResourceIndex resource_index{};  // 12 bits

  static RequestCommon read(const std::byte* p) {
    const uint16_t first = load_u16(p);
    const uint32_t job = load_u32(p + 4);
    return {bits<SesOpcode>(first, 8, 6),
            bits<uint8_t>(first, 6, 2),
            bit(first, 5),
            bit(first, 4),
            bit(first, 3),
            bit(first, 2),
            bit(first, 1),
            bit(first, 0),
            bits<uint8_t>(job, 24, 8),
            JobId(bits<uint32_t>(job, 0, 24)),
            PidOnFep(bits<uint16_t>(load_u16(p + 8), 0, 12)),
            ResourceIndex(bits<uint16_t>(load_u16(p + 10), 0, 12))};
  }

  // Writes kSize octets; `third` is message_id or request_length.
  void emit(std::byte* p, uint16_t third) const {
    const uint64_t first = put(static_cast<uint8_t>(opcode), 8, 6) | put(ver, 6, 2) | put(dc, 5) |
                           put(ie, 4) | put(rel, 3) | put(hd, 2) | put(eom, 1) | put(som, 0);
    store_u16(p, static_cast<uint16_t>(first));
    store_u16(p + 2, third);
    store_u32(p + 4, static_cast<uint32_t>(put(ri_generation, 24, 8) | put(job_id.value(), 0, 24)));
    store_u16(p + 8, static_cast<uint16_t>(put(pid_on_fep.value(), 0, 12)));
    store_u16(p + 10, static_cast<uint16_t>(put(resource_index.value(), 0, 12)));
  }

  bool operator==(const RequestCommon&) const = default;
};

// The two words of a deferrable send and of its ready-to-restart. [WIRE-063, WIRE-064]
struct RestartTokens {
  uint32_t initiator = 0;  // initiator_restart_token
  uint32_t target = 0;     // target_restart_token

  static RestartTokens unpack(uint64_t word) {
    return {bits<uint32_t>(word, 32, 32), bits<uint32_t>(word, 0, 32)};
  }
  uint64_t pack() const { return put(initiator, 32, 32) | put(target, 0, 32); }
  bool operator==(const RestartTokens&) const = default;
};

// |                    common (12 octets), message_id             |
// |     buffer_offset (64), or restart tokens (deferrable send)   |
// |                        initiator (32)                         |
// |  match_bits / memory_key (64), or restart tokens (RTR)        |
// |  som=1: header_data (64)                                      |
// |  som=0: reserved (18) payload_length (14) message_offset (32) |
// |                      request_length (32)                      |
// [WIRE-060, WIRE-063, WIRE-064]
struct StandardRequest {
  static constexpr uint32_t kSize = 44;
  static constexpr uint32_t kMessageOffsetAt = 36;  // som=0

  RequestCommon common{};
  MessageId message_id{};       // 0 is not used
  uint64_t buffer_offset = 0;   // deferrable: RestartTokens
  uint32_t initiator = 0;       // initiator ID
  uint64_t match_bits = 0;      // see memory_key(); ready to restart: RestartTokens
  uint64_t header_data = 0;     // som=1; meaningful with hd=1
  uint16_t payload_length = 0;  // som=0; 14 bits, octets in this packet (READ: asked for)
  uint32_t message_offset = 0;  // som=0; octets before this packet in the message
  uint32_t request_length = 0;  // octets of the whole message

  // The same 64 bits under the name they have in other operations.
  uint64_t memory_key() const { return match_bits; }

  // Errors in the values, after reading them. [WIRE-100, WIRE-116]
  Checked check() const { return check(common.ver, payload_length); }
  static Checked check(uint8_t ver, uint16_t payload_length) {
    if (ver != 0) return ParseError::ses_version;
    if (payload_length > kPayloadBytesMax) return ParseError::payload_length_limit;
    return {};
  }

  // Checks payload_length against the `present` octets after the request and extension headers;
  // compare and swap values count as payload. [WIRE-061, WIRE-073, WIRE-119]
  Checked check_sum(uint64_t present) const {
    const bool read = common.opcode == SesOpcode::read;
    if (common.som || (read ? 0U : payload_length) == present) return {};
    return ParseError::sum_check;
  }

  // Reads without judging; the caller has made sure that the octets are there.
  static StandardRequest read(Reader& r) {
    const std::byte* p = r.take(kSize);
    StandardRequest h;
    h.common = RequestCommon::read(p);
    h.message_id = MessageId(load_u16(p + 2));
    h.buffer_offset = load_u64(p + 12);
    h.initiator = load_u32(p + 20);
    h.match_bits = load_u64(p + 24);
    const uint64_t by_som = load_u64(p + 32);
    if (h.common.som) {
      h.header_data = by_som;
    } else {
      h.payload_length = bits<uint16_t>(by_som, 32, 14);
      h.message_offset = bits<uint32_t>(by_som, 0, 32);
    }
    h.request_length = load_u32(p + 40);
    return h;
  }

  // Refuses with truncated, or what check() finds.
  static Parsed<StandardRequest> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    const std::byte* p = r.peek(kSize);
    const uint16_t first = load_u16(p);
    const bool som = bit(first, 0);
    UET_CHECK(check(bits<uint8_t>(first, 6, 2), som ? 0 : bits<uint16_t>(load_u16(p + 34), 0, 14)));
    return {InPlace{}, [&] { return read(r); }};
  }

  void emit(Writer& w) const {
    std::byte* p = w.take(kSize);
    common.emit(p, message_id.value());
    store_u64(p + 12, buffer_offset);
    store_u32(p + 20, initiator);
    store_u64(p + 24, match_bits);
    if (common.som) {
      store_u64(p + 32, header_data);
    } else {
      store_place(p, payload_length, message_offset);
    }
    store_u32(p + 40, request_length);
  }
  // Writes the two fields that differ between the packets in the middle of a message.
  static void store_place(std::byte* p, uint16_t payload_length, uint32_t message_offset) {
    store_u64(p + 32, put(payload_length, 32, 14) | put(message_offset, 0, 32));
  }

  bool operator==(const StandardRequest&) const = default;
};

}  // namespace uet::wire
