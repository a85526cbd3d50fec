// SipHash-2-4: a keyed hash. Without the key it cannot be computed, and known values do not reveal
// the key. For values that go to a peer and come back as proof; tables use the faster hash64.
// [PDS-251]
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace uet {

struct SipKey {
  uint64_t low = 0;
  uint64_t high = 0;
};

namespace siphash_detail {

struct State {
  uint64_t a, b, c, d;

  void round() {
    a += b;
    b = std::rotl(b, 13) ^ a;
    a = std::rotl(a, 32);
    c += d;
    d = std::rotl(d, 16) ^ c;
    a += d;
    d = std::rotl(d, 21) ^ a;
    c += b;
    b = std::rotl(b, 17) ^ c;
    c = std::rotl(c, 32);
  }
  void take(uint64_t word) {
    d ^= word;
    round();
    round();
    a ^= word;
  }
};

}  // namespace siphash_detail

// Reads words as the machine stores them: values are for this process, and the published vectors
// hold on machines that store the lowest octet first.
inline uint64_t siphash(std::span<const std::byte> bytes, const SipKey& key) {
  siphash_detail::State s{key.low ^ 0x736f6d6570736575, key.high ^ 0x646f72616e646f6d,
                          key.low ^ 0x6c7967656e657261, key.high ^ 0x7465646279746573};
  uint64_t last = uint64_t{bytes.size()} << 56;
  while (bytes.size() >= 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    s.take(word);
    bytes = bytes.subspan(8);
  }
  for (size_t i = 0; i < bytes.size(); ++i) last |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
  s.take(last);
  s.c ^= 0xff;
  for (int i = 0; i < 4; ++i) s.round();
  return s.a ^ s.b ^ s.c ^ s.d;
}

}  // namespace uet
