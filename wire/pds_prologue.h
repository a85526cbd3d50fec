// The two octets that start every PDS header, and the properties of each packet type.
#pragma once

#include "wire/code_points.h"
#include "wire/parse_error.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace uet::wire {

constexpr bool is_request_with_cc(PdsType t) {
  return t == PdsType::rud_cc_request || t == PdsType::rod_cc_request;
}
// RUD or ROD, with or without congestion control state: the packets of Request.
constexpr bool is_request(PdsType t) {
  return t == PdsType::rud_request || t == PdsType::rod_request || is_request_with_cc(t);
}
constexpr bool is_rod(PdsType t) {
  return t == PdsType::rod_request || t == PdsType::rod_cc_request;
}
constexpr bool is_ack(PdsType t) {
  return t == PdsType::ack || t == PdsType::ack_cc || t == PdsType::ack_ccx;
}
constexpr bool is_nack(PdsType t) { return t == PdsType::nack || t == PdsType::nack_ccx; }

// 0 and 15-31. [WIRE-037]
constexpr bool is_reserved(PdsType t) { return t < PdsType::tss || t > PdsType::rod_cc_request; }
// 7-15. [WIRE-039]
constexpr bool is_reserved(NextHeader h) { return h > NextHeader::response_data_small; }
constexpr bool is_request(NextHeader h) {
  return h >= NextHeader::small && h <= NextHeader::standard;
}
constexpr bool is_response(NextHeader h) {
  return h >= NextHeader::response && h <= NextHeader::response_data_small;
}

//  0                   1
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5
// |type(5)  |next_hdr |flags(7)     |
// |         |ctl_type |             |
struct Prologue {
  static constexpr uint32_t kSize = 2;

  PdsType type = PdsType::rud_request;
  uint8_t next_hdr_or_ctl_type = 0;  // 4 bits; ctl_type in a control packet
  uint8_t flags = 0;                 // 7 bits, meaning by type [WIRE-037]

  NextHeader next_hdr() const { return static_cast<NextHeader>(next_hdr_or_ctl_type); }
  CtlType ctl_type() const { return static_cast<CtlType>(next_hdr_or_ctl_type); }

  // Splits the word that starts a header.
  static Prologue of(uint16_t word) {
    return {static_cast<PdsType>(word >> 11), bits<uint8_t>(word, 7, 4), bits<uint8_t>(word, 0, 7)};
  }
  uint16_t word() const {
    return static_cast<uint16_t>(put(static_cast<uint8_t>(type), 11, 5) |
                                 put(next_hdr_or_ctl_type, 7, 4) | put(flags, 0, 7));
  }

  // Looks at the prologue and leaves the reader where it was: every header parses its own prologue.
  // Reserved types are refused; tss is not, only inside TSS is it wrong. [WIRE-116]
  static Parsed<Prologue> peek(const Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    const Prologue h = of(load_u16(r.peek(kSize)));
    if (is_reserved(h.type)) return ParseError::pds_type_reserved;
    return h;
  }
  static Parsed<Prologue> parse(Reader& r) {
    auto h = peek(r);
    if (h.ok()) r.skip(kSize);
    return h;
  }
  void emit(Writer& w) const { w.u16(word()); }
  bool operator==(const Prologue&) const = default;
};

// Flag bits of the prologue by header. [WIRE-037, WIRE-038]
inline constexpr unsigned kFlagEpsn = 6;        // closing ACK with expected PSN
inline constexpr unsigned kFlagM = 5;           // the packet answered was CE-marked
inline constexpr unsigned kFlagIsRod = 5;       // control packet on a ROD PDC
inline constexpr unsigned kFlagRetx = 4;        // retransmission
inline constexpr unsigned kFlagAr = 3;          // an ACK is requested
inline constexpr unsigned kFlagProbe = 3;       // ACK that answers a Probe
inline constexpr unsigned kFlagNackRudi = 3;    // nt: the NACK is for RUDI
inline constexpr unsigned kFlagSyn = 2;         // the PDC is not confirmed yet
inline constexpr unsigned kFlagAckRequest = 1;  // req, 2 bits

// The last 16 bits of a request or control packet with syn=1. [WIRE-040, WIRE-121]
inline constexpr unsigned kUseRsvPdc = 15;
inline constexpr unsigned kPrivateMark = 13;
inline constexpr unsigned kPsnOffsetBits = 12;

}  // namespace uet::wire
