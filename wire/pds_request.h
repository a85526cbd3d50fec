// RUD and ROD requests, with and without congestion control state, confirmed and SYN form.
// RUDI and UUD requests are in pds_connectionless.h.
#pragma once

#include "wire/pds_prologue.h"

#include "base/serial.h"

namespace uet::wire {

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// |type(5)  |next_hdr |..|retx|ar|syn|.| clear_psn_offset         |
// |                              psn                              |
// |            spdcid             |  dpdcid (syn=0)               |
// |                               |u|.|p|.| psn_offset (syn=1)    |
// |    ccc_id     |            credit_target (CC types only)      |
// u use_rsv_pdc, p the project's private mark. [WIRE-040, WIRE-041, WIRE-121]
struct Request {
  static constexpr uint32_t kSize = 12;
  static constexpr uint32_t kSizeCc = 16;

  PdsType type = PdsType::rud_request;  // one of the four with is_request()
  NextHeader next_hdr = NextHeader::none;
  bool retx = false;
  bool ar = false;
  bool syn = false;
  bool use_rsv_pdc = false;      // syn=1: take the PDC from the reserved pool
  bool private_mark = false;     // syn=1: answer to my UDP source port, low four bits cleared
  uint16_t psn_offset = 0;       // syn=1: 12 bits, distance of psn from the start PSN
  int16_t clear_psn_offset = 0;  // never positive
  Pdcid spdcid{};                // of the sender, not 0
  Pdcid dpdcid{};                // syn=0: of the receiver
  Psn psn{};
  uint8_t ccc_id = 0;          // CC types: congestion control context
  uint32_t credit_target = 0;  // CC types: 24 bits, credit wanted

  bool has_cc() const { return is_request_with_cc(type); }
  uint32_t size() const { return has_cc() ? kSizeCc : kSize; }
  // The receiver may forget all PSNs up to this one. [WIRE-002]
  Psn clear_psn() const { return psn + clear_psn_offset; }
  // First PSN of the PDC, known while syn=1. [WIRE-040]
  Psn start_psn() const { return psn - psn_offset; }

  // Errors in the values, after reading them. [WIRE-116]
  Checked check() const { return check(next_hdr, spdcid); }
  static Checked check(NextHeader next_hdr, Pdcid spdcid) {
    if (is_reserved(next_hdr)) return ParseError::next_hdr_reserved;
    // Return data travels in request packets of the return direction. [PDS-167]
    if (next_hdr == NextHeader::response) return ParseError::response_under_request_type;
    if (spdcid == Pdcid{}) return ParseError::spdcid_zero;
    return {};
  }

  // Reads without judging; the caller has made sure that the type is right and the octets there.
  static Request read(Reader& r) {
    const Prologue prologue = Prologue::of(load_u16(r.peek(kSize)));
    const bool with_cc = is_request_with_cc(prologue.type);
    const std::byte* p = r.take(with_cc ? kSizeCc : kSize);
    Request h;
    h.type = prologue.type;
    h.next_hdr = prologue.next_hdr();
    h.retx = bit(prologue.flags, kFlagRetx);
    h.ar = bit(prologue.flags, kFlagAr);
    h.syn = bit(prologue.flags, kFlagSyn);
    h.clear_psn_offset = static_cast<int16_t>(load_u16(p + 2));
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
    if (with_cc) {
      const uint32_t cc = load_u32(p + 12);
      h.ccc_id = bits<uint8_t>(cc, 24, 8);
      h.credit_target = bits<uint32_t>(cc, 0, 24);
    }
    return h;
  }

  // Refuses with truncated, wrong_type, or what check() finds.
  static Parsed<Request> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    const std::byte* p = r.peek(kSize);
    const Prologue prologue = Prologue::of(load_u16(p));
    if (!is_request(prologue.type)) return ParseError::wrong_type;
    if (is_request_with_cc(prologue.type) && r.remaining() < kSizeCc) return ParseError::truncated;
    UET_CHECK(check(prologue.next_hdr(), Pdcid(load_u16(p + 8))));
    return {InPlace{}, [&] { return read(r); }};
  }

  // Writes size() octets. type must satisfy is_request().
  void emit(Writer& w) const {
    UET_ASSERT(is_request(type));
    std::byte* p = w.take(size());
    const Prologue prologue{
        type, static_cast<uint8_t>(next_hdr),
        static_cast<uint8_t>(put(retx, kFlagRetx) | put(ar, kFlagAr) | put(syn, kFlagSyn))};
    store_u16(p, prologue.word());
    store_psns(p, clear_psn_offset, psn);
    store_u16(p + 8, spdcid.value());
    const uint64_t overlay = put(use_rsv_pdc, kUseRsvPdc) | put(private_mark, kPrivateMark) |
                             put(psn_offset, 0, kPsnOffsetBits);
    store_u16(p + 10, syn ? static_cast<uint16_t>(overlay) : dpdcid.value());
    if (has_cc()) {
      store_u32(p + 12, static_cast<uint32_t>(put(ccc_id, 24, 8) | put(credit_target, 0, 24)));
    }
  }

  // Writes what differs between the headers of packets in a row.
  static void store_psns(std::byte* p, int16_t clear_psn_offset, Psn psn) {
    store_u16(p + 2, static_cast<uint16_t>(clear_psn_offset));
    store_u32(p + 4, psn.value());
  }

  bool operator==(const Request&) const = default;
};

}  // namespace uet::wire
