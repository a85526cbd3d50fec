// Digests of octets, eight at a time. Equal for equal octets, however they are cut into pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace uet::sim {

inline uint64_t mix(uint64_t digest, uint64_t word) {
  digest = (digest ^ word) * 0x9E3779B97F4A7C15;
  return digest ^ digest >> 32;
}

class Digest {
 public:
  void add(std::span<const std::byte> piece) {
    size_t at = 0;
    for (; open_ != 0 && at < piece.size(); ++at) add(piece[at]);
    for (; at + sizeof(uint64_t) <= piece.size(); at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, &piece[at], sizeof word);
      value_ = mix(value_, word);
    }
    for (; at < piece.size(); ++at) add(piece[at]);
  }
  uint64_t value() const { return mix(mix(value_, word_), open_); }

 private:
  // As if read from memory with the least octet first.
  void add(std::byte octet) {
    word_ |= static_cast<uint64_t>(octet) << (8 * open_);
    if (++open_ < sizeof word_) return;
    value_ = mix(value_, word_);
    word_ = open_ = 0;
  }

  uint64_t value_ = 0xcbf29ce484222325;
  uint64_t word_ = 0;  // octets that are not a whole word yet
  uint64_t open_ = 0;  // how many
};

}  // namespace uet::sim
