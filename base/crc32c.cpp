// CRC-32C eight octets at a time: by tables made at compile time, or by the SSE4.2 instruction.
#include "base/crc32c.h"

#include <bit>
#include <cstring>

namespace uet {

namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // Castagnoli, reflected

using Table = std::array<std::array<uint32_t, 256>, 8>;

// table[k][b]: the remainder of octet b followed by k zero octets.
constexpr Table make_table() {
  Table table{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t remainder = b;
    for (int i = 0; i < 8; ++i) {
      remainder = (remainder >> 1) ^ ((remainder & 1U) != 0 ? kPolynomial : 0);
    }
    table[0][b] = remainder;
  }
  for (uint32_t b = 0; b < 256; ++b) {
    for (size_t k = 1; k < 8; ++k) {
      table[k][b] = (table[k - 1][b] >> 8) ^ table[0][table[k - 1][b] & 0xFF];
    }
  }
  return table;
}

constexpr Table kTable = make_table();

// Little-endian, because the sum is reflected: the first octet is the least significant one.
uint64_t load_little(const std::byte* p) {
  uint64_t word = 0;
  std::memcpy(&word, p, sizeof word);
  return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

}  // namespace

uint32_t crc32c_software(std::span<const std::byte> octets, uint32_t previous) {
  const std::byte* p = octets.data();
  size_t n = octets.size();
  uint32_t sum = ~previous;
  for (; n >= 8; n -= 8, p += 8) {
    const uint64_t word = load_little(p) ^ sum;
    sum = kTable[7][word & 0xFF] ^ kTable[6][(word >> 8) & 0xFF] ^ kTable[5][(word >> 16) & 0xFF] ^
          kTable[4][(word >> 24) & 0xFF] ^ kTable[3][(word >> 32) & 0xFF] ^
          kTable[2][(word >> 40) & 0xFF] ^ kTable[1][(word >> 48) & 0xFF] ^ kTable[0][word >> 56];
  }
  for (; n > 0; --n, ++p) sum = (sum >> 8) ^ kTable[0][(sum ^ std::to_integer<uint8_t>(*p)) & 0xFF];
  return ~sum;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) uint32_t crc32c_hardware(std::span<const std::byte> octets,
                                                           uint32_t previous) {
  const std::byte* p = octets.data();
  size_t n = octets.size();
  uint64_t sum = static_cast<uint32_t>(~previous);
  for (; n >= 8; n -= 8, p += 8) sum = __builtin_ia32_crc32di(sum, load_little(p));
  auto tail = static_cast<uint32_t>(sum);
  for (; n > 0; --n, ++p) tail = __builtin_ia32_crc32qi(tail, std::to_integer<uint8_t>(*p));
  return ~tail;
}

bool crc32c_has_hardware() { return __builtin_cpu_supports("sse4.2") != 0; }

#else

uint32_t crc32c_hardware(std::span<const std::byte> octets, uint32_t previous) {
  return crc32c_software(octets, previous);
}

bool crc32c_has_hardware() { return false; }

#endif

uint32_t crc32c(std::span<const std::byte> octets, uint32_t previous) {
  return crc32c_has_hardware() ? crc32c_hardware(octets, previous)
                               : crc32c_software(octets, previous);
}

}  // namespace uet
