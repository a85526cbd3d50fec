// The control packet (CP). No SES header follows it. [WIRE-058]
#pragma once

#include "wire/pds_prologue.h"

#include "base/serial.h"

namespace uet::wire {

// Payload of a credit_req control packet, packed as req_cc_state. [WIRE-057, WIRE-041]
struct CreditRequest {
  uint8_t ccc_id = 0;
  uint32_t credit_target = 0;  // 24 bits

  static CreditRequest unpack(uint32_t payload) {
    return {bits<uint8_t>(payload, 24, 8), bits<uint32_t>(payload, 0, 24)};
  }
  uint32_t pack() const {
    return static_cast<uint32_t>(put(ccc_id, 24, 8) | put(credit_target, 0, 24));
  }
  bool operator==(const CreditRequest&) const = default;
};

// Payload of a credit control packet: 24 bits of credit above 8 reserved ones. [WIRE-057]
inline uint32_t unpack_credit(uint32_t payload) { return payload >> 8; }
inline uint32_t pack_credit(uint32_t credit) { return static_cast<uint32_t>(put(credit, 8, 24)); }

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// |type(5)  |ctl_type |.|isrod|retx|ar|syn|..|    probe_opaque    |
// |                              psn                              |
// |            spdcid             |  dpdcid (syn=0)               |
// |                               |u|.|p|.| psn_offset (syn=1)    |
// |                            payload                            |
// u use_rsv_pdc, p the project's private mark. [WIRE-056, WIRE-121]
struct Control {
  static constexpr uint32_t kSize = 16;
  // A negotiation of 1.0.3 has 4 more octets after the header; they are accepted and not acted
  // upon. [WIRE-057]
  static constexpr uint32_t kNegotiationSurplus = 4;

  CtlType ctl_type = CtlType::noop;  // 4 bits
  bool isrod = false;
  bool retx = false;
  bool ar = false;
  bool syn = false;
  bool use_rsv_pdc = false;   // syn=1: take the PDC from the reserved pool
  bool private_mark = false;  // syn=1: answer to my UDP source port, low four bits cleared
  uint16_t psn_offset = 0;    // syn=1: 12 bits, distance of psn from the start PSN
  uint16_t probe_opaque = 0;  // Probe: echoed in the ACK
  Pdcid spdcid{};             // of the sender, not 0
  Pdcid dpdcid{};             // syn=0: of the receiver
  Psn psn{};
  uint32_t payload = 0;  // by ctl_type [WIRE-057]

  uint32_t size() const { return kSize; }
  // First PSN of the PDC, known while syn=1.
  Psn start_psn() const { return psn - psn_offset; }

  // Errors in the values, after reading them. Reserved ctl_types are not errors: PDS ignores them.
  // [WIRE-116]
  Checked check() const {
    if (spdcid == Pdcid{}) return ParseError::spdcid_zero;
    return {};
  }

  // Reads without judging; the caller has made sure that the type is right and the octets there.
  static Control read(Reader& r) {
    const std::byte* p = r.take(kSize);
    const Prologue prologue = Prologue::of(load_u16(p));
    Control h;
    h.ctl_type = prologue.ctl_type();
    h.isrod = bit(prologue.flags, kFlagIsRod);
    h.retx = bit(prologue.flags, kFlagRetx);
    h.ar = bit(prologue.flags, kFlagAr);
    h.syn = bit(prologue.flags, kFlagSyn);
    h.probe_opaque = load_u16(p + 2);
    h.psn = Psn(load_u32(p + 4));
    h.spdcid = Pdcid(load_u16(p + 8));
    const uint16_t last = load_u16(p + 10);
    if (h.syn) {
      h.use_rsv_pdc = bit(last, kUseRsvPdc);
      h.private_mark = bit(last, kPrivateMark);
      h.psn_offset = bits<uint16_t>(last, 0, kPsnOffsetBits);
    } else {
      h.dpdcid = Pdcid(last);
    }
    h.payload = load_u32(p + 12);
    return h;
  }

  // Refuses with truncated, wrong_type, or what check() finds.
  static Parsed<Control> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    if (Prologue::of(load_u16(r.peek(kSize))).type != PdsType::control) {
      return ParseError::wrong_type;
    }
    const Control h = read(r);
    UET_CHECK(h.check());
    return h;
  }

  void emit(Writer& w) const {
    std::byte* p = w.take(kSize);
    const uint64_t flags =
        put(isrod, kFlagIsRod) | put(retx, kFlagRetx) | put(ar, kFlagAr) | put(syn, kFlagSyn);
    const Prologue prologue{PdsType::control, static_cast<uint8_t>(ctl_type),
                            static_cast<uint8_t>(flags)};
    store_u16(p, prologue.word());
    store_u16(p + 2, probe_opaque);
    store_u32(p + 4, psn.value());
    store_u16(p + 8, spdcid.value());
    const uint64_t overlay = put(use_rsv_pdc, kUseRsvPdc) | put(private_mark, kPrivateMark) |
                             put(psn_offset, 0, kPsnOffsetBits);
    store_u16(p + 10, syn ? static_cast<uint16_t>(overlay) : dpdcid.value());
    store_u32(p + 12, payload);
  }

  bool operator==(const Control&) const = default;
};

}  // namespace uet::wire
