// The end-to-end CRC: CRC-32C over addresses, encapsulation, PDS, SES and payload. Which octets
// those are is the caller's decision; here are the sum and its trailer.
#pragma once

#include "wire/parse_error.h"
#include "wire/reader.h"
#include "wire/writer.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::wire {

// CRC-32C (Castagnoli, reflected, all ones in and out) of the octets. To go on from an earlier
// piece give its result as `previous`. Takes the processor's instruction where there is one.
// [WIRE-090]
uint32_t crc32c(std::span<const std::byte> octets, uint32_t previous = 0);

// The two forms behind crc32c(), apart for tests. The hardware form may be called only where
// crc32c_has_hardware() says so.
uint32_t crc32c_software(std::span<const std::byte> octets, uint32_t previous = 0);
uint32_t crc32c_hardware(std::span<const std::byte> octets, uint32_t previous = 0);
bool crc32c_has_hardware();

// |          CRC-32C, least significant octet first               |
// The last octets of the IP payload, counted in IP and UDP length. The octet order is our ruling;
// this is the one place that knows it. [WIRE-089, WIRE-092, WIRE-093]
struct CrcTrailer {
  static constexpr uint32_t kSize = 4;

  uint32_t value = 0;

  static CrcTrailer read(Reader& r) { return {__builtin_bswap32(r.u32())}; }
  // Refuses with truncated.
  static Parsed<CrcTrailer> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    return read(r);
  }
  void emit(Writer& w) const { w.u32(__builtin_bswap32(value)); }
  bool operator==(const CrcTrailer&) const = default;
};

}  // namespace uet::wire
