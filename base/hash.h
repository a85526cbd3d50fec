// A seeded hash for tables whose keys come from the network: without the seed an attacker cannot
// choose keys that collide. Not a message authentication code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace uet {

// The 128-bit product of a and b, folded in half: every input bit reaches every output bit.
constexpr uint64_t fold_multiply(uint64_t a, uint64_t b) {
  __extension__ using Product = unsigned __int128;
  const Product product = Product{a} * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

namespace hash_detail {
// Fractional digits of the square roots of 2, 3 and 5: nothing up the sleeve.
inline constexpr uint64_t kA = 0x6a09e667f3bcc908;
inline constexpr uint64_t kB = 0xbb67ae8584caa73b;
inline constexpr uint64_t kC = 0x3c6ef372fe94f82b;
}  // namespace hash_detail

// The hash of two words. Two rounds: the first alone would be zero whenever one factor is, which
// only the seed prevents.
constexpr uint64_t hash64(uint64_t a, uint64_t b, uint64_t seed) {
  using namespace hash_detail;
  const uint64_t round = fold_multiply(a ^ seed ^ kA, b ^ fold_multiply(seed ^ kB, kC));
  return fold_multiply(round ^ a ^ kB, seed ^ kC) ^ round;
}

constexpr uint64_t hash64(uint64_t a, uint64_t seed) { return hash64(a, 0, seed); }

// The hash of a string of octets; the same on every host of one byte order.
inline uint64_t hash64(std::span<const std::byte> bytes, uint64_t seed) {
  uint64_t h = hash64(bytes.size(), seed);
  while (!bytes.empty()) {
    uint64_t words[2] = {0, 0};
    const size_t taken = bytes.size() < sizeof words ? bytes.size() : sizeof words;
    std::memcpy(words, bytes.data(), taken);
    h = hash64(words[0] ^ h, words[1], seed);
    bytes = bytes.subspan(taken);
  }
  return h;
}

// HashMap calls this. Overload it beside your key type: combine the members with hash64, never the
// bytes of a struct with padding.
template <class T>
requires std::is_integral_v<T> || std::is_enum_v<T>
constexpr uint64_t hash_of(T key, uint64_t seed) {
  return hash64(static_cast<uint64_t>(key), seed);
}

// Psn, Pdcid and the other strong types.
template <class T>
requires requires(T t) { requires std::is_integral_v<decltype(t.value())>; }
constexpr uint64_t hash_of(T key, uint64_t seed) {
  return hash64(static_cast<uint64_t>(key.value()), seed);
}

}  // namespace uet
