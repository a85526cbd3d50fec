// ACK_CC and ACK_CCX: an ACK followed by SACK and congestion control state.
#pragma once

#include "wire/pds_ack.h"

#include <cstring>

namespace uet::wire {

// |                       ACK (12 octets)                         |
// |cc_type|cc_flag|      mpr      |        sack_psn_offset        |
// |                        sack_bitmap (64)                       |
// |                       ack_cc_state (64)                       |
// [WIRE-046]
struct AckCc {
  static constexpr uint32_t kSize = 32;

  Ack ack{.type = PdsType::ack_cc};
  CcType cc_type = CcType::nscc;  // 4 bits
  uint8_t cc_flags = 0;           // 4 bits, reserved, kept as received
  uint8_t mpr = 0;                // maximum PSN range, units of 128 PSNs [PDS-033]
  int16_t sack_psn_offset = 0;    // SACK base = cack_psn + offset
  uint64_t sack_bitmap = 0;       // bit n of weight 2^n: PSN base + n received
  uint64_t state = 0;             // NsccState or CreditState by cc_type

  Psn sack_base() const { return ack.cack_psn + sack_psn_offset; }
  uint32_t size() const { return kSize; }
  Checked check() const { return ack.check(); }

  // Reads without judging; the caller has made sure that the type is right and the octets there.
  static AckCc read(Reader& r) {
    AckCc h;
    h.ack = Ack::read(r);
    const std::byte* octets = r.take(kSize - Ack::kSize);
    const uint8_t type_and_flags = load_u8(octets);
    h.cc_type = bits<CcType>(type_and_flags, 4, 4);
    h.cc_flags = bits<uint8_t>(type_and_flags, 0, 4);
    h.mpr = load_u8(octets + 1);
    h.sack_psn_offset = static_cast<int16_t>(load_u16(octets + 2));
    h.sack_bitmap = load_u64(octets + 4);
    h.state = load_u64(octets + 12);
    return h;
  }

  // Refuses with truncated, wrong_type, or what check() finds.
  static Parsed<AckCc> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    const std::byte* octets = r.peek(kSize);
    const Prologue prologue = Prologue::of(load_u16(octets));
    if (prologue.type != PdsType::ack_cc) return ParseError::wrong_type;
    UET_CHECK(Ack::check(prologue.next_hdr(), Pdcid(load_u16(octets + 8))));
    return {InPlace{}, [&] { return read(r); }};
  }

  void emit(Writer& w) const {
    UET_ASSERT(ack.type == PdsType::ack_cc);
    ack.emit(w);
    std::byte* octets = w.take(kSize - Ack::kSize);
    store_u8(octets,
             static_cast<uint8_t>(put(static_cast<uint8_t>(cc_type), 4, 4) | put(cc_flags, 0, 4)));
    store_u8(octets + 1, mpr);
    store_u16(octets + 2, static_cast<uint16_t>(sack_psn_offset));
    store_u64(octets + 4, sack_bitmap);
    store_u64(octets + 12, state);
  }

  bool operator==(const AckCc&) const = default;
};

// |                       ACK (12 octets)                         |
// |ccx_typ|cc_flag|      mpr      |        sack_psn_offset        |
// |                        sack_bitmap (64)                       |
// |                      ack_ccx_state (128)                      |
// The state is opaque and goes through untouched. [WIRE-049]
struct AckCcx {
  static constexpr uint32_t kSize = 40;

  Ack ack{.type = PdsType::ack_ccx};
  uint8_t ccx_type = 0;  // 4 bits; 14 and 15 proprietary, the rest reserved
  uint8_t cc_flags = 0;  // 4 bits, reserved, kept as received
  uint8_t mpr = 0;
  int16_t sack_psn_offset = 0;
  uint64_t sack_bitmap = 0;
  std::array<std::byte, 16> state{};

  Psn sack_base() const { return ack.cack_psn + sack_psn_offset; }
  uint32_t size() const { return kSize; }
  Checked check() const { return ack.check(); }

  // Reads without judging; the caller has made sure that the type is right and the octets there.
  static AckCcx read(Reader& r) {
    AckCcx h;
    h.ack = Ack::read(r);
    const std::byte* octets = r.take(kSize - Ack::kSize);
    const uint8_t type_and_flags = load_u8(octets);
    h.ccx_type = bits<uint8_t>(type_and_flags, 4, 4);
    h.cc_flags = bits<uint8_t>(type_and_flags, 0, 4);
    h.mpr = load_u8(octets + 1);
    h.sack_psn_offset = static_cast<int16_t>(load_u16(octets + 2));
    h.sack_bitmap = load_u64(octets + 4);
    std::memcpy(h.state.data(), octets + 12, h.state.size());
    return h;
  }

  // Refuses with truncated, wrong_type, or what check() finds.
  static Parsed<AckCcx> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    const std::byte* octets = r.peek(kSize);
    const Prologue prologue = Prologue::of(load_u16(octets));
    if (prologue.type != PdsType::ack_ccx) return ParseError::wrong_type;
    UET_CHECK(Ack::check(prologue.next_hdr(), Pdcid(load_u16(octets + 8))));
    return {InPlace{}, [&] { return read(r); }};
  }

  void emit(Writer& w) const {
    UET_ASSERT(ack.type == PdsType::ack_ccx);
    ack.emit(w);
    std::byte* octets = w.take(kSize - Ack::kSize);
    store_u8(octets, static_cast<uint8_t>(put(ccx_type, 4, 4) | put(cc_flags, 0, 4)));
    store_u8(octets + 1, mpr);
    store_u16(octets + 2, static_cast<uint16_t>(sack_psn_offset));
    store_u64(octets + 4, sack_bitmap);
    std::memcpy(octets + 12, state.data(), state.size());
  }

  bool operator==(const AckCcx&) const = default;
};

}  // namespace uet::wire
