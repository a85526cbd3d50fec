// Names of messages, and the octets, lengths and forms that follow from them.
#include "tools/stress/message.h"

#include <algorithm>
#include <cstring>

namespace uet::stress {

uint64_t mix(uint64_t word) {
  word += 0x9e3779b97f4a7c15;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

uint64_t MessageId::packed() const {
  return uint64_t{seq} | uint64_t{incarnation & 0x3fff} << 32 | uint64_t{from & 0xff} << 46 |
         uint64_t{to_incarnation % kToIncarnations} << 54 | uint64_t{stream} << 59 |
         uint64_t{ordered} << 62;
}

MessageId MessageId::unpacked(uint64_t word) {
  const auto bits = [word](uint32_t at, uint32_t count) {
    return static_cast<uint32_t>(word >> at & ((uint64_t{1} << count) - 1));
  };
  return MessageId{.seq = bits(0, 32),
                   .incarnation = bits(32, 14),
                   .from = bits(46, 8),
                   .to_incarnation = bits(54, 5),
                   .stream = bits(59, 3),
                   .ordered = bits(62, 1) != 0};
}

std::string MessageId::text() const {
  return "message " + std::to_string(seq) + " of stream " + std::to_string(stream) +
         " from process " + std::to_string(from) + "." + std::to_string(incarnation);
}

void Content::fill(std::span<uint8_t> octets) const {
  size_t at = 0;
  uint64_t word;
  for (; at + sizeof word <= octets.size(); at += sizeof word) {
    word = mix(key_ + at);
    std::memcpy(octets.data() + at, &word, sizeof word);
  }
  word = mix(key_ + at);
  if (at < octets.size()) std::memcpy(octets.data() + at, &word, octets.size() - at);
}

size_t Content::first_difference(std::span<const uint8_t> octets, size_t at) const {
  uint64_t word;
  for (; at + sizeof word <= octets.size(); at += sizeof word) {
    word = mix(key_ + at);
    if (std::memcmp(octets.data() + at, &word, sizeof word) != 0) break;
  }
  word = mix(key_ + at);
  uint8_t expected[sizeof word];
  std::memcpy(expected, &word, sizeof word);
  for (size_t i = 0; i < sizeof word && at + i < octets.size(); ++i) {
    if (octets[at + i] != expected[i]) return at + i;
  }
  return octets.size();
}

void Message::fill(const MessageId& id, std::span<uint8_t> octets) const {
  content.fill(octets);
  const uint64_t name = id.packed();
  if (octets.size() >= kNameBytes) std::memcpy(octets.data(), &name, kNameBytes);
}

size_t Message::first_difference(const MessageId& id, std::span<const uint8_t> octets) const {
  if (octets.size() < kNameBytes) return content.first_difference(octets);
  uint64_t name;
  std::memcpy(&name, octets.data(), kNameBytes);
  return name == id.packed() ? content.first_difference(octets, kNameBytes) : 0;
}

size_t random_length(uint64_t word, size_t max) {
  const uint64_t kind = word % 100;
  const uint64_t spread = word >> 8;
  const auto up_to = [&](size_t end) { return spread % (std::min(end, max) + 1); };
  if (kind < 45) return up_to(64);
  if (kind < 50) return up_to(8);
  if (kind < 72) return up_to(4096);
  if (kind < 76) return std::min<size_t>(max, size_t{1} << spread % 21);  // powers of two
  if (kind < 90) return up_to(65536);
  if (kind < 98) return up_to(262144);
  return up_to(max);
}

Message describe(uint64_t seed, const MessageId& id, uint32_t to_slot, size_t bytes_max) {
  const uint64_t key = mix(mix(seed ^ id.packed()) + to_slot);
  const size_t bytes = random_length(mix(key), bytes_max);
  // The receiver knows a plain message that is too short for its name by its remote CQ data.
  const bool nameless = id.stream == kPlain && bytes < kNameBytes;
  return Message{
      .bytes = bytes, .carries_data = nameless || (mix(key + 1) & 1) != 0, .content = Content(key)};
}

}  // namespace uet::stress
