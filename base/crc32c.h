// CRC-32C, the sum that ends packets without a seal. The caller knows which octets it covers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace uet {

// CRC-32C (Castagnoli, reflected, all ones in and out) of the octets. To go on from an earlier
// piece give its result as `previous`. Takes the processor's instruction where there is one.
// [WIRE-090]
uint32_t crc32c(std::span<const std::byte> octets, uint32_t previous = 0);

// The two forms behind crc32c(), apart for tests. The hardware form may be called only where
// crc32c_has_hardware() says so.
uint32_t crc32c_software(std::span<const std::byte> octets, uint32_t previous = 0);
uint32_t crc32c_hardware(std::span<const std::byte> octets, uint32_t previous = 0);
bool crc32c_has_hardware();

// How a packet carries it: least significant octet first. The octet order is our ruling; this is
// the one place that knows it. [WIRE-093]
inline constexpr uint32_t kCrcBytes = 4;
using CrcOctets = std::array<std::byte, kCrcBytes>;
constexpr CrcOctets crc_octets(uint32_t value) {
  return {static_cast<std::byte>(value), static_cast<std::byte>(value >> 8),
          static_cast<std::byte>(value >> 16), static_cast<std::byte>(value >> 24)};
}
constexpr uint32_t crc_of(std::span<const std::byte, kCrcBytes> octets) {
  uint32_t value = 0;
  for (uint32_t i = kCrcBytes; i > 0; --i) {
    value = value << 8 | std::to_integer<uint32_t>(octets[i - 1]);
  }
  return value;
}

}  // namespace uet
