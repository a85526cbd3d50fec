// The small and medium SES requests: messages of one packet, without a message ID. [WIRE-067]
#pragma once

#include "wire/ses_request.h"

namespace uet::wire {

// |         common (12 octets), 2 reserved + 14 request_length    |
// |                       buffer_offset (64)                      |
// No match bits, no key, no header data: hd is reserved, shown as received, sent 0. [WIRE-065]
struct SmallRequest {
  static constexpr uint32_t kSize = 20;

  RequestCommon common{.eom = true, .som = true};
  uint16_t request_length = 0;  // 14 bits, octets of the message
  uint64_t buffer_offset = 0;

  // Errors in the values, after reading them. [WIRE-116]
  Checked check() const {
    if (common.ver != 0) return ParseError::ses_version;
    if (!common.som || !common.eom) return ParseError::single_packet_som_eom;
    return {};
  }

  // Reads without judging; the caller has made sure that the octets are there.
  static SmallRequest read(Reader& r) {
    const std::byte* p = r.take(kSize);
    SmallRequest h;
    h.common = RequestCommon::read(p);
    h.request_length = bits<uint16_t>(load_u16(p + 2), 0, 14);
    h.buffer_offset = load_u64(p + 12);
    return h;
  }

  // Refuses with truncated, or what check() finds.
  static Parsed<SmallRequest> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    const SmallRequest h = read(r);
    UET_CHECK(h.check());
    return h;
  }

  void emit(Writer& w) const {
    RequestCommon sent = common;
    sent.hd = false;
    std::byte* p = w.take(kSize);
    sent.emit(p, static_cast<uint16_t>(put(request_length, 0, 14)));
    store_u64(p + 12, buffer_offset);
  }

  bool operator==(const SmallRequest&) const = default;
};

// |         common (12 octets), 2 reserved + 14 request_length    |
// |      hd=1: header_data (64), hd=0: buffer_offset (64)         |
// |                        initiator (32)                         |
// |                 match_bits / memory_key (64)                  |
// [WIRE-066]
struct MediumRequest {
  static constexpr uint32_t kSize = 32;

  RequestCommon common{.eom = true, .som = true};
  uint16_t request_length = 0;  // 14 bits, octets of the message
  uint64_t header_data = 0;     // hd=1
  uint64_t buffer_offset = 0;   // hd=0
  uint32_t initiator = 0;       // initiator ID
  uint64_t match_bits = 0;      // see memory_key()

  uint64_t memory_key() const { return match_bits; }

  // Errors in the values, after reading them. [WIRE-116]
  Checked check() const {
    if (common.ver != 0) return ParseError::ses_version;
    if (!common.som || !common.eom) return ParseError::single_packet_som_eom;
    return {};
  }

  // Reads without judging; the caller has made sure that the octets are there.
  static MediumRequest read(Reader& r) {
    const std::byte* p = r.take(kSize);
    MediumRequest h;
    h.common = RequestCommon::read(p);
    h.request_length = bits<uint16_t>(load_u16(p + 2), 0, 14);
    (h.common.hd ? h.header_data : h.buffer_offset) = load_u64(p + 12);
    h.initiator = load_u32(p + 20);
    h.match_bits = load_u64(p + 24);
    return h;
  }

  // Refuses with truncated, or what check() finds.
  static Parsed<MediumRequest> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    const MediumRequest h = read(r);
    UET_CHECK(h.check());
    return h;
  }

  void emit(Writer& w) const {
    std::byte* p = w.take(kSize);
    common.emit(p, static_cast<uint16_t>(put(request_length, 0, 14)));
    store_u64(p + 12, common.hd ? header_data : buffer_offset);
    store_u32(p + 20, initiator);
    store_u64(p + 24, match_bits);
  }

  bool operator==(const MediumRequest&) const = default;
};

}  // namespace uet::wire
