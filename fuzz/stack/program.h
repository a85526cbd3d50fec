// The octets of a fuzz input as a program: a reader that never fails. After the end it reads zeros,
// so that every prefix of a program is a program too. The reader does not know the meaning of the
// values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::fuzz {

class Program {
 public:
  explicit Program(std::span<const uint8_t> octets) : octets_(octets) {}

  bool ended() const { return at_ >= octets_.size(); }
  uint8_t u8() { return ended() ? uint8_t{0} : octets_[at_++]; }
  uint16_t u16() { return static_cast<uint16_t>(u8() << 8 | u8()); }
  uint32_t u32() { return uint32_t{u16()} << 16 | u16(); }
  bool flag() { return (u8() & 1) != 0; }
  // Uniform enough in [0, n); n above 0.
  uint32_t below(uint32_t n) { return n <= 256 ? u8() % n : u16() % n; }
  // Mostly a value close to `base`, sometimes one that breaks arithmetic, sometimes any value.
  uint32_t near(uint32_t base) {
    static constexpr uint32_t kJumps[] = {1u << 31,  1u << 24,   1u << 16,   1u << 15,
                                          1u << 11,  1u << 10,   1u << 7,    0u - (1u << 31),
                                          0u - 1024, 0u - 65536, 0u - 2048u, (1u << 31) - 1};
    const uint8_t how = u8();
    if (how < 0x80) return base + how;
    if (how < 0xC0) return base - (how - 0x7Fu);
    if (how < 0xF0) return base + kJumps[how % (sizeof kJumps / sizeof kJumps[0])];
    return u32();
  }

 private:
  std::span<const uint8_t> octets_;
  size_t at_ = 0;
};

}  // namespace uet::fuzz
