// The three SES responses. A default response of a peer's PDS is a Response; our PDS sends its
// default answer without an SES header. [WIRE-076, PDS 8.1]
#pragma once

#include "wire/code_points.h"
#include "wire/parse_error.h"
#include "wire/reader.h"
#include "wire/writer.h"

#include "base/serial.h"

namespace uet::wire {

// |l(2)|opcode(6) |ver|return_code(6)| by header                  |
// The 16 bits that every response starts with. [WIRE-075]
struct ResponseCommon {
  ListCode list = ListCode::expected;                        // 2 bits
  ResponseOpcode opcode = ResponseOpcode::default_response;  // 6 bits
  uint8_t ver = 0;                                           // 2 bits
  ReturnCode return_code = ReturnCode::null;                 // 6 bits

  static ResponseCommon of(uint16_t word) {
    return {bits<ListCode>(word, 14, 2), bits<ResponseOpcode>(word, 8, 6),
            bits<uint8_t>(word, 6, 2), bits<ReturnCode>(word, 0, 6)};
  }
  uint16_t word() const {
    return static_cast<uint16_t>(put(static_cast<uint8_t>(list), 14, 2) |
                                 put(static_cast<uint8_t>(opcode), 8, 6) | put(ver, 6, 2) |
                                 put(static_cast<uint8_t>(return_code), 0, 6));
  }
  // Version, and opcode 2 with a data header and no other. [WIRE-116]
  Checked check(bool data_header) const {
    if (ver != 0) return ParseError::ses_version;
    if ((opcode == ResponseOpcode::response_w_data) != data_header) {
      return ParseError::response_opcode_mismatch;
    }
    return {};
  }
  bool operator==(const ResponseCommon&) const = default;
};

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// |l(2)|opcode(6) |ver|return_code(6)|         message_id         |
// | ri_generation |                   job_id (24)                 |
// |                     modified_length (32)                      |
// [WIRE-075]
struct Response {
  static constexpr uint32_t kSize = 12;

  ResponseCommon common{};
  MessageId message_id{};        // of the request
  uint8_t ri_generation = 0;     // current at the target; 0 in a default response
  JobId job_id{};                // 24 bits, of the request
  uint32_t modified_length = 0;  // octets delivered or modified

  Checked check() const { return common.check(false); }

  // Reads without judging; the caller has made sure that the octets are there.
  static Response read(Reader& r) {
    const std::byte* p = r.take(kSize);
    const uint32_t job = load_u32(p + 4);
    return {ResponseCommon::of(load_u16(p)), MessageId(load_u16(p + 2)), bits<uint8_t>(job, 24, 8),
            JobId(bits<uint32_t>(job, 0, 24)), load_u32(p + 8)};
  }

  // Refuses with truncated, or what check() finds.
  static Parsed<Response> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    UET_CHECK(ResponseCommon::of(load_u16(r.peek(kSize))).check(false));
    return {InPlace{}, [&] { return read(r); }};
  }

  void emit(Writer& w) const {
    std::byte* p = w.take(kSize);
    store_u16(p, common.word());
    store_u16(p + 2, message_id.value());
    store_u32(p + 4, static_cast<uint32_t>(put(ri_generation, 24, 8) | put(job_id.value(), 0, 24)));
    store_u32(p + 8, modified_length);
  }

  bool operator==(const Response&) const = default;
};

// |l(2)|opcode(6) |ver|return_code(6)|   response_message_id      |
// |   reserved    |                   job_id (24)                 |
// |    read_request_message_id    |..|   payload_length (14)      |
// |                     modified_length (32)                      |
// |                      message_offset (32)                      |
// Data follows. [WIRE-077]
struct ResponseData {
  static constexpr uint32_t kSize = 20;

  ResponseCommon common{.opcode = ResponseOpcode::response_w_data};
  MessageId response_message_id{};      // of the response itself
  JobId job_id{};                       // 24 bits
  MessageId read_request_message_id{};  // of the read or fetching atomic
  uint16_t payload_length = 0;          // 14 bits, data octets in this packet
  uint32_t modified_length = 0;         // octets of the operation
  uint32_t message_offset = 0;          // of this data in the message

  // Errors in the values, after reading them. [WIRE-100, WIRE-116]
  Checked check() const {
    UET_CHECK(common.check(true));
    if (payload_length > kPayloadBytesMax) return ParseError::payload_length_limit;
    return {};
  }
  // Checks payload_length against the number of octets after the header. [WIRE-119]
  Checked check_sum(uint64_t present) const {
    if (payload_length != present) return ParseError::sum_check;
    return {};
  }

  // Reads without judging; the caller has made sure that the octets are there.
  static ResponseData read(Reader& r) {
    const std::byte* p = r.take(kSize);
    return {ResponseCommon::of(load_u16(p)),
            MessageId(load_u16(p + 2)),
            JobId(bits<uint32_t>(load_u32(p + 4), 0, 24)),
            MessageId(load_u16(p + 8)),
            bits<uint16_t>(load_u16(p + 10), 0, 14),
            load_u32(p + 12),
            load_u32(p + 16)};
  }

  // Refuses with truncated, or what check() finds.
  static Parsed<ResponseData> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    const ResponseData h = read(r);
    UET_CHECK(h.check());
    return h;
  }

  void emit(Writer& w) const {
    std::byte* p = w.take(kSize);
    store_u16(p, common.word());
    store_u16(p + 2, response_message_id.value());
    store_u32(p + 4, static_cast<uint32_t>(put(job_id.value(), 0, 24)));
    store_u16(p + 8, read_request_message_id.value());
    store_u16(p + 10, static_cast<uint16_t>(put(payload_length, 0, 14)));
    store_u32(p + 12, modified_length);
    store_u32(p + 16, message_offset);
  }

  bool operator==(const ResponseData&) const = default;
};

// |l(2)|opcode(6) |ver|return_code(6)|..|  payload_length (14)    |
// |   reserved    |                   job_id (24)                 |
// |                   original_request_psn (32)                   |
// Data follows. Answers a small or medium request; for RUDI the last word is its pkt_id. [WIRE-078]
struct ResponseDataSmall {
  static constexpr uint32_t kSize = 12;

  ResponseCommon common{.opcode = ResponseOpcode::response_w_data};
  uint16_t payload_length = 0;  // 14 bits, data octets in this packet
  JobId job_id{};               // 24 bits
  Psn original_request_psn{};

  // Errors in the values, after reading them. [WIRE-100, WIRE-116]
  Checked check() const {
    UET_CHECK(common.check(true));
    if (payload_length > kPayloadBytesMax) return ParseError::payload_length_limit;
    return {};
  }
  // Checks payload_length against the number of octets after the header. [WIRE-119]
  Checked check_sum(uint64_t present) const {
    if (payload_length != present) return ParseError::sum_check;
    return {};
  }

  // Reads without judging; the caller has made sure that the octets are there.
  static ResponseDataSmall read(Reader& r) {
    const std::byte* p = r.take(kSize);
    return {ResponseCommon::of(load_u16(p)), bits<uint16_t>(load_u16(p + 2), 0, 14),
            JobId(bits<uint32_t>(load_u32(p + 4), 0, 24)), Psn(load_u32(p + 8))};
  }

  // Refuses with truncated, or what check() finds.
  static Parsed<ResponseDataSmall> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    const ResponseDataSmall h = read(r);
    UET_CHECK(h.check());
    return h;
  }

  void emit(Writer& w) const {
    std::byte* p = w.take(kSize);
    store_u16(p, common.word());
    store_u16(p + 2, static_cast<uint16_t>(put(payload_length, 0, 14)));
    store_u32(p + 4, static_cast<uint32_t>(put(job_id.value(), 0, 24)));
    store_u32(p + 8, original_request_psn.value());
  }

  bool operator==(const ResponseDataSmall&) const = default;
};

}  // namespace uet::wire
