// NACK and NACK_CCX. No SES header follows either; their next_hdr is sent 0 and ignored. [WIRE-053]
#pragma once

#include "wire/pds_prologue.h"

#include "base/serial.h"

#include <array>
#include <cstring>

namespace uet::wire {

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// |type(5)  |0        |.|m|retx|nt|...|   nack_code   |vendor_code|
// |                    nack_psn / nack_pkt_id                     |
// |            spdcid             |            dpdcid             |
// |                            payload                            |
// [WIRE-052]
struct Nack {
  static constexpr uint32_t kSize = 16;

  PdsType type = PdsType::nack;  // nack, or nack_ccx as the front of that header
  bool m = false;
  bool retx = false;
  bool nt = false;  // the NACK is for RUDI: nack_pkt_id instead of nack_psn
  NackCode nack_code = NackCode::none;
  uint8_t vendor_code = 0;
  Psn nack_psn{};        // nt=0
  PktId nack_pkt_id{};   // nt=1
  Pdcid spdcid{};        // 0 if nt=1, or if the target has no PDC
  Pdcid dpdcid{};        // of the initiator; 0 if nt=1
  uint32_t payload = 0;  // by code: new start PSN, else highest received PSN + 1

  uint32_t size() const { return kSize; }

  // Reads without judging; the caller has made sure that the type is right and the octets there.
  static Nack read(Reader& r) {
    const std::byte* p = r.take(kSize);
    const Prologue prologue = Prologue::of(load_u16(p));
    Nack h;
    h.type = prologue.type;
    h.m = bit(prologue.flags, kFlagM);
    h.retx = bit(prologue.flags, kFlagRetx);
    h.nt = bit(prologue.flags, kFlagNackRudi);
    h.nack_code = static_cast<NackCode>(load_u8(p + 2));
    h.vendor_code = load_u8(p + 3);
    if (h.nt)
      h.nack_pkt_id = PktId(load_u32(p + 4));
    else
      h.nack_psn = Psn(load_u32(p + 4));
    h.spdcid = Pdcid(load_u16(p + 8));
    h.dpdcid = Pdcid(load_u16(p + 10));
    h.payload = load_u32(p + 12);
    return h;
  }

  // Takes type nack only. Refuses with truncated or wrong_type.
  static Parsed<Nack> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    if (Prologue::of(load_u16(r.peek(kSize))).type != PdsType::nack) return ParseError::wrong_type;
    return read(r);
  }

  void emit(Writer& w) const {
    UET_ASSERT(is_nack(type));
    std::byte* p = w.take(kSize);
    const Prologue prologue{
        type, 0,
        static_cast<uint8_t>(put(m, kFlagM) | put(retx, kFlagRetx) | put(nt, kFlagNackRudi))};
    store_u16(p, prologue.word());
    store_u8(p + 2, static_cast<uint8_t>(nack_code));
    store_u8(p + 3, vendor_code);
    store_u32(p + 4, nt ? nack_pkt_id.value() : nack_psn.value());
    store_u16(p + 8, spdcid.value());
    store_u16(p + 10, dpdcid.value());
    store_u32(p + 12, payload);
  }

  bool operator==(const Nack&) const = default;
};

// |                       NACK (16 octets)                        |
// |nccx_ty|                  nack_ccx_state (124)                 |
// [WIRE-054]
struct NackCcx {
  static constexpr uint32_t kSize = 32;

  Nack nack{.type = PdsType::nack_ccx};
  uint8_t nccx_type = 0;              // 4 bits; 14 and 15 proprietary, the rest reserved
  std::array<std::byte, 16> state{};  // opaque; the upper half of the first octet is 0

  uint32_t size() const { return kSize; }

  // Reads without judging; the caller has made sure that the type is right and the octets there.
  static NackCcx read(Reader& r) {
    NackCcx h;
    h.nack = Nack::read(r);
    const std::byte* p = r.take(kSize - Nack::kSize);
    std::memcpy(h.state.data(), p, h.state.size());
    h.nccx_type = bits<uint8_t>(load_u8(p), 4, 4);
    h.state[0] &= std::byte{0x0F};
    return h;
  }

  // Refuses with truncated or wrong_type.
  static Parsed<NackCcx> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    if (Prologue::of(load_u16(r.peek(kSize))).type != PdsType::nack_ccx) {
      return ParseError::wrong_type;
    }
    return read(r);
  }

  void emit(Writer& w) const {
    UET_ASSERT(nack.type == PdsType::nack_ccx);
    UET_ASSERT((state[0] & std::byte{0xF0}) == std::byte{0});
    nack.emit(w);
    std::byte* p = w.take(kSize - Nack::kSize);
    std::memcpy(p, state.data(), state.size());
    store_u8(p, static_cast<uint8_t>(put(nccx_type, 4, 4) | static_cast<uint8_t>(state[0])));
  }

  bool operator==(const NackCcx&) const = default;
};

}  // namespace uet::wire
