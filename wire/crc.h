// The trailer with the end-to-end CRC: CRC-32C over addresses, encapsulation, PDS, SES and payload.
#pragma once

#include "wire/parse_error.h"
#include "wire/reader.h"
#include "wire/writer.h"

#include "base/crc32c.h"

#include <cstdint>

namespace uet::wire {

// |          CRC-32C, least significant octet first               |
// The last octets of the IP payload, counted in IP and UDP length. [WIRE-089, WIRE-092, WIRE-093]
struct CrcTrailer {
  static constexpr uint32_t kSize = kCrcBytes;

  uint32_t value = 0;

  static CrcTrailer read(Reader& r) { return {crc_of(r.bytes(kSize).first<kSize>())}; }
  // Refuses with truncated.
  static Parsed<CrcTrailer> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    return read(r);
  }
  void emit(Writer& w) const { w.bytes(crc_octets(value)); }
  bool operator==(const CrcTrailer&) const = default;
};

}  // namespace uet::wire
