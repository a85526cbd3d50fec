// The header of the transport security sublayer: its layout only. Keys, IV, replay and sealing are
// in tss/.
#pragma once

#include "wire/pds_prologue.h"

namespace uet::wire {

// Value of the domain of a received packet (RxDatagram::sdi): a switch has trimmed the packet, so
// its sender is not authenticated. No domain has this number: code without support for it refuses
// the packet. [TSS-081]
inline constexpr uint32_t kUnverifiedSdi = uint32_t{1} << 31;

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// |type(5)=1|sp|.|an|                  sdi (24)                   |
// |                     ssi (32), sp=1 only                       |
// |           epoch (16)          |         counter (48)          |
// |                       counter, the rest                       |
// [WIRE-025, WIRE-026]
struct TssHeader {
  static constexpr uint32_t kSize = 12;
  static constexpr uint32_t kSizeSsi = 16;
  static constexpr uint32_t kIcvBytes = 16;  // [WIRE-033]

  bool sp = false;   // ssi present
  bool an = false;   // which of the two keys
  uint32_t sdi = 0;  // 24 bits, secure domain identifier
  uint32_t ssi = 0;  // sp=1: source identifier
  uint64_t tsc = 0;  // epoch and counter

  uint16_t epoch() const { return bits<uint16_t>(tsc, 48, 16); }
  uint64_t counter() const { return bits<uint64_t>(tsc, 0, 48); }
  uint32_t size() const { return sp ? kSizeSsi : kSize; }

  // Octets of the header that starts with this octet.
  static uint32_t size_of(uint8_t first_octet) { return bit(first_octet, 2) ? kSizeSsi : kSize; }

  // Reads without judging; the caller has made sure that the type is right and the octets there.
  static TssHeader read(Reader& r) {
    const std::byte* p = r.take(size_of(load_u8(r.peek(1))));
    const uint32_t first = load_u32(p);
    TssHeader h;
    h.sp = bit(first, 26);
    h.an = bit(first, 24);
    h.sdi = bits<uint32_t>(first, 0, 24);
    if (h.sp) h.ssi = load_u32(p + 4);
    h.tsc = load_u64(p + (h.sp ? 8 : 4));
    return h;
  }

  // Refuses with truncated or wrong_type.
  static Parsed<TssHeader> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    const uint8_t first = load_u8(r.peek(1));
    if (first >> 3 != static_cast<uint8_t>(PdsType::tss)) return ParseError::wrong_type;
    if (r.remaining() < size_of(first)) return ParseError::truncated;
    return read(r);
  }

  void emit(Writer& w) const {
    std::byte* p = w.take(size());
    store_u32(p, static_cast<uint32_t>(put(static_cast<uint8_t>(PdsType::tss), 27, 5) |
                                       put(sp, 26) | put(an, 24) | put(sdi, 0, 24)));
    if (sp) store_u32(p + 4, ssi);
    store_u64(p + (sp ? 8 : 4), tsc);
  }

  bool operator==(const TssHeader&) const = default;
};

}  // namespace uet::wire
