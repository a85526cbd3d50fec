// The ACK family: ACK with its closing form, ACK_CC, ACK_CCX, and the two known layouts of the
// congestion control state. cms interprets the numbers.
#pragma once

#include "wire/pds_prologue.h"

#include "base/serial.h"

#include <array>

namespace uet::wire {

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// |type(5)  |next_hdr |e|m|retx|p|req|.| ack_psn_offset / opaque  |
// |                           cack_psn                            |
// |            spdcid             |            dpdcid             |
// |      expected start PSN (type 7, e=1 and next_hdr 0 only)     |
// [WIRE-045, WIRE-050, WIRE-051]
struct Ack {
  static constexpr uint32_t kSize = 12;
  static constexpr uint32_t kSizeClosing = 16;

  PdsType type = PdsType::ack;  // ack, or ack_cc, ack_ccx as the front of those headers
  NextHeader next_hdr = NextHeader::none;
  bool epsn = false;  // type ack only; see has_expected_psn()
  bool m = false;
  bool retx = false;
  bool p = false;  // answers a Probe: probe_opaque instead of ack_psn_offset
  AckRequest req = AckRequest::none;
  int16_t ack_psn_offset = 0;  // p=0
  uint16_t probe_opaque = 0;   // p=1
  Pdcid spdcid{};              // of the sender of this ACK, not 0
  Pdcid dpdcid{};
  Psn cack_psn{};            // this PSN and all before it are done
  Psn expected_start_psn{};  // closing ACK: start PSN of the secure domain

  bool has_expected_psn() const {
    return epsn && type == PdsType::ack && next_hdr == NextHeader::none;
  }
  uint32_t size() const { return has_expected_psn() ? kSizeClosing : kSize; }
  // The packet that caused this ACK; only with p=0. [WIRE-002, WIRE-045]
  Psn ack_psn() const { return cack_psn + ack_psn_offset; }

  // Errors in the values, after reading them. [WIRE-116]
  Checked check() const { return check(next_hdr, spdcid); }
  static Checked check(NextHeader next_hdr, Pdcid spdcid) {
    if (is_reserved(next_hdr)) return ParseError::next_hdr_reserved;
    if (is_request(next_hdr)) return ParseError::request_under_response_type;
    if (spdcid == Pdcid{}) return ParseError::spdcid_zero;
    return {};
  }

  // Octets that a header with this prologue takes, without what ACK_CC and ACK_CCX add.
  static uint32_t size_of(Prologue h) {
    const bool closing =
        h.type == PdsType::ack && bit(h.flags, kFlagEpsn) && h.next_hdr() == NextHeader::none;
    return closing ? kSizeClosing : kSize;
  }

  // Reads without judging; the caller has made sure that the type is right and the octets there.
  static Ack read(Reader& r) {
    const Prologue prologue = Prologue::of(load_u16(r.peek(kSize)));
    const std::byte* octets = r.take(size_of(prologue));
    Ack h;
    h.type = prologue.type;
    h.next_hdr = prologue.next_hdr();
    h.epsn = prologue.type == PdsType::ack && bit(prologue.flags, kFlagEpsn);
    h.m = bit(prologue.flags, kFlagM);
    h.retx = bit(prologue.flags, kFlagRetx);
    h.p = bit(prologue.flags, kFlagProbe);
    h.req = bits<AckRequest>(prologue.flags, kFlagAckRequest, 2);
    const uint16_t offset_or_opaque = load_u16(octets + 2);
    if (h.p)
      h.probe_opaque = offset_or_opaque;
    else
      h.ack_psn_offset = static_cast<int16_t>(offset_or_opaque);
    h.cack_psn = Psn(load_u32(octets + 4));
    h.spdcid = Pdcid(load_u16(octets + 8));
    h.dpdcid = Pdcid(load_u16(octets + 10));
    if (h.has_expected_psn()) h.expected_start_psn = Psn(load_u32(octets + 12));
    return h;
  }

  // Takes type ack only. Refuses with truncated, wrong_type, or what check() finds.
  static Parsed<Ack> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    const std::byte* octets = r.peek(kSize);
    const Prologue prologue = Prologue::of(load_u16(octets));
    if (prologue.type != PdsType::ack) return ParseError::wrong_type;
    if (r.remaining() < size_of(prologue)) return ParseError::truncated;
    UET_CHECK(check(prologue.next_hdr(), Pdcid(load_u16(octets + 8))));
    return {InPlace{}, [&] { return read(r); }};
  }

  // Writes size() octets.
  void emit(Writer& w) const {
    UET_ASSERT(is_ack(type));
    UET_ASSERT(!epsn || type == PdsType::ack);
    std::byte* octets = w.take(size());
    const uint64_t flags = put(epsn, kFlagEpsn) | put(m, kFlagM) | put(retx, kFlagRetx) |
                           put(p, kFlagProbe) | put(static_cast<uint8_t>(req), kFlagAckRequest, 2);
    const Prologue prologue{type, static_cast<uint8_t>(next_hdr), static_cast<uint8_t>(flags)};
    store_u16(octets, prologue.word());
    store_u16(octets + 2, p ? probe_opaque : static_cast<uint16_t>(ack_psn_offset));
    store_u32(octets + 4, cack_psn.value());
    store_u16(octets + 8, spdcid.value());
    store_u16(octets + 10, dpdcid.value());
    if (has_expected_psn()) store_u32(octets + 12, expected_start_psn.value());
  }

  bool operator==(const Ack&) const = default;
};

// ack_cc_state with cc_type 0. Units: WIRE-047 and the CMS reference.
// |        service_time           |r| rcv_cwnd_pend | rcvd_bytes  |
// |   rcvd_bytes (24 in all)      |           ooo_count           |
struct NsccState {
  uint16_t service_time = 0;  // 128 ns; 0 not valid, 0xFFFF saturated
  bool rc = false;            // restore cwnd
  uint8_t rcv_cwnd_pend = 0;  // 7 bits, receiver window penalty
  uint32_t rcvd_bytes = 0;    // 24 bits, 256-octet units, wraps
  uint16_t ooo_count = 0;     // packets out of order now; 0xFFFF not computed

  static NsccState unpack(uint64_t state) {
    return {bits<uint16_t>(state, 48, 16), bit(state, 47), bits<uint8_t>(state, 40, 7),
            bits<uint32_t>(state, 16, 24), bits<uint16_t>(state, 0, 16)};
  }
  uint64_t pack() const {
    return put(service_time, 48, 16) | put(rc, 47) | put(rcv_cwnd_pend, 40, 7) |
           put(rcvd_bytes, 16, 24) | put(ooo_count, 0, 16);
  }
  bool operator==(const NsccState&) const = default;
};

// ack_cc_state with cc_type 1. [WIRE-048]
// |                credit (24)                    |   reserved    |
// |   reserved (24 in all)        |           ooo_count           |
struct CreditState {
  uint32_t credit = 0;  // 24 bits
  uint16_t ooo_count = 0;

  static CreditState unpack(uint64_t state) {
    return {bits<uint32_t>(state, 40, 24), bits<uint16_t>(state, 0, 16)};
  }
  uint64_t pack() const { return put(credit, 40, 24) | put(ooo_count, 0, 16); }
  bool operator==(const CreditState&) const = default;
};

}  // namespace uet::wire
