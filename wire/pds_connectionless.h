// The headers of the modes without a PDC: RUDI request and response, UUD request.
#pragma once

#include "wire/pds_prologue.h"

#include "base/serial.h"

namespace uet::wire {

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// |type(5)=4|next_hdr |..|retx|....   |..|p|       reserved       |
// |                            pkt_id                             |
// p the project's private mark, bit 0x2000. [WIRE-042, WIRE-121]
struct RudiRequest {
  static constexpr uint32_t kSize = 8;

  NextHeader next_hdr = NextHeader::none;
  bool retx = false;
  bool private_mark = false;  // answer to my UDP source port, low four bits cleared
  PktId pkt_id{};             // unique at the initiator

  uint32_t size() const { return kSize; }

  // Errors in the values, after reading them. [WIRE-116]
  Checked check() const {
    if (is_reserved(next_hdr)) return ParseError::next_hdr_reserved;
    if (is_response(next_hdr)) return ParseError::response_under_request_type;
    return {};
  }

  // Reads without judging; the caller has made sure that the type is right and the octets there.
  static RudiRequest read(Reader& r) {
    const std::byte* p = r.take(kSize);
    const Prologue prologue = Prologue::of(load_u16(p));
    return {prologue.next_hdr(), bit(prologue.flags, kFlagRetx), bit(load_u16(p + 2), kPrivateMark),
            PktId(load_u32(p + 4))};
  }

  // Refuses with truncated, wrong_type, or what check() finds.
  static Parsed<RudiRequest> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    if (Prologue::of(load_u16(r.peek(kSize))).type != PdsType::rudi_request) {
      return ParseError::wrong_type;
    }
    const RudiRequest h = read(r);
    UET_CHECK(h.check());
    return h;
  }

  void emit(Writer& w) const {
    std::byte* p = w.take(kSize);
    const Prologue prologue{PdsType::rudi_request, static_cast<uint8_t>(next_hdr),
                            static_cast<uint8_t>(put(retx, kFlagRetx))};
    store_u16(p, prologue.word());
    store_u16(p + 2, static_cast<uint16_t>(put(private_mark, kPrivateMark)));
    store_u32(p + 4, pkt_id.value());
  }

  bool operator==(const RudiRequest&) const = default;
};

// |type(5)=5|next_hdr |.|m|retx|....  |           reserved        |
// |                            pkt_id                             |
// [WIRE-042]
struct RudiResponse {
  static constexpr uint32_t kSize = 8;

  NextHeader next_hdr = NextHeader::none;
  bool m = false;
  bool retx = false;
  PktId pkt_id{};  // of the request answered

  uint32_t size() const { return kSize; }

  // Errors in the values, after reading them. [WIRE-116]
  Checked check() const {
    if (is_reserved(next_hdr)) return ParseError::next_hdr_reserved;
    if (is_request(next_hdr)) return ParseError::request_under_response_type;
    return {};
  }

  // Reads without judging; the caller has made sure that the type is right and the octets there.
  static RudiResponse read(Reader& r) {
    const std::byte* p = r.take(kSize);
    const Prologue prologue = Prologue::of(load_u16(p));
    return {prologue.next_hdr(), bit(prologue.flags, kFlagM), bit(prologue.flags, kFlagRetx),
            PktId(load_u32(p + 4))};
  }

  // Refuses with truncated, wrong_type, or what check() finds.
  static Parsed<RudiResponse> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    if (Prologue::of(load_u16(r.peek(kSize))).type != PdsType::rudi_response) {
      return ParseError::wrong_type;
    }
    const RudiResponse h = read(r);
    UET_CHECK(h.check());
    return h;
  }

  void emit(Writer& w) const {
    std::byte* p = w.take(kSize);
    const Prologue prologue{PdsType::rudi_response, static_cast<uint8_t>(next_hdr),
                            static_cast<uint8_t>(put(m, kFlagM) | put(retx, kFlagRetx))};
    store_u16(p, prologue.word());
    store_u16(p + 2, 0);
    store_u32(p + 4, pkt_id.value());
  }

  bool operator==(const RudiResponse&) const = default;
};

// |type(5)=6|next_hdr |   ignored     |           reserved        |
// A receiver never answers it. [WIRE-043, WIRE-044]
struct Uud {
  static constexpr uint32_t kSize = 4;

  NextHeader next_hdr = NextHeader::none;

  uint32_t size() const { return kSize; }

  // Errors in the values, after reading them. [WIRE-116]
  Checked check() const {
    if (is_reserved(next_hdr)) return ParseError::next_hdr_reserved;
    if (is_response(next_hdr)) return ParseError::response_under_request_type;
    return {};
  }

  // Reads without judging; the caller has made sure that the type is right and the octets there.
  static Uud read(Reader& r) { return {Prologue::of(load_u16(r.take(kSize))).next_hdr()}; }

  // Refuses with truncated, wrong_type, or what check() finds.
  static Parsed<Uud> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    if (Prologue::of(load_u16(r.peek(kSize))).type != PdsType::uud_request) {
      return ParseError::wrong_type;
    }
    const Uud h = read(r);
    UET_CHECK(h.check());
    return h;
  }

  void emit(Writer& w) const {
    std::byte* p = w.take(kSize);
    const Prologue prologue{PdsType::uud_request, static_cast<uint8_t>(next_hdr), 0};
    store_u16(p, prologue.word());
    store_u16(p + 2, 0);
  }

  bool operator==(const Uud&) const = default;
};

}  // namespace uet::wire
