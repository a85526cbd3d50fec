// A message of the stress program. Its name is enough: the two ends derive length, form and content
// from it, so each octet can be checked without any agreement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace uet::stress {

// Spreads the bits of a word; the octets of messages and all choices come from it.
uint64_t mix(uint64_t word);

class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(mix(seed)) {}
  uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15); }
  uint64_t below(uint64_t end) { return next() % end; }
  bool one_in(uint64_t times) { return below(times) == 0; }

 private:
  uint64_t state_;
};

// Messages of one stream match the same receives: plain ones, four classes of tags, and the events
// of written data. Sequence numbers count within a stream.
constexpr uint32_t kPlain = 0;
constexpr uint32_t kTagClasses = 4;  // streams 1 to 4
constexpr uint32_t kWritten = 5;
constexpr uint32_t kStreams = 6;

// The name of a message; also its tag, its remote CQ data and, from 8 octets on, its beginning.
struct MessageId {
  uint32_t seq = 0;
  uint32_t incarnation = 0;     // of the sender; 14 bits
  uint32_t from = 0;            // slot of the sender; 8 bits
  uint32_t to_incarnation = 0;  // of the receiver; the lowest 5 bits
  uint32_t stream = 0;          // 3 bits
  bool ordered = false;         // the sender's endpoint promises an order

  uint64_t packed() const;
  static MessageId unpacked(uint64_t word);
  std::string text() const;
};
constexpr uint32_t kToIncarnations = 32;
constexpr uint64_t kTagSequenceBits = (uint64_t{1} << 59) - 1;  // all of a tag but its stream

// The octets that a key stands for; any part can be made or checked by itself.
class Content {
 public:
  explicit Content(uint64_t key) : key_(key) {}
  void fill(std::span<uint8_t> octets) const;
  // Place of the first octet that differs, or octets.size(). Begins at `at`, a multiple of 8.
  size_t first_difference(std::span<const uint8_t> octets, size_t at = 0) const;

 private:
  uint64_t key_;
};

struct Message {
  size_t bytes;
  bool carries_data;  // the name travels as remote CQ data, too
  Content content;

  // With the name in front where it fits.
  void fill(const MessageId& id, std::span<uint8_t> octets) const;
  size_t first_difference(const MessageId& id, std::span<const uint8_t> octets) const;
};
constexpr size_t kNameBytes = sizeof(uint64_t);

// A length of at most `max`: most are short, a few long, from the bits of `word`.
size_t random_length(uint64_t word, size_t max);
Message describe(uint64_t seed, const MessageId& id, uint32_t to_slot, size_t bytes_max);

}  // namespace uet::stress
