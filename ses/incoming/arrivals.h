// Packets of one message that have arrived: each octet is counted once, whatever PSN carries it. In
// order this is a counter; the bitmap is used only while an earlier packet is missing. [SES-016,
// SES-023]
#pragma once

#include <array>
#include <cstdint>

namespace uet::ses {

class Arrivals {
 public:
  // How far a packet may be ahead of the first missing one. All packets of a message come on one
  // PDC, in the order of their PSNs, and a PDC takes no PSN that is further ahead: MP_RANGE is at
  // most 16 * 128. [PDS-035]
  static constexpr uint32_t kSpanPackets = 2048;

  Arrivals() {}  // the bitmap is not initialised until its first use

  // Whether a packet is too far ahead of the first missing one to be tracked.
  bool is_too_far(uint32_t offset, uint32_t length, bool is_last) const {
    if (is_last || length == 0) return false;  // an illegal length is refused elsewhere
    return offset / length > prefix_ && offset / length - prefix_ >= kSpanPackets;
  }
  // The packets before `offset` have arrived, and no other one.
  bool are_all_before(uint32_t offset) const {
    return prefix_ * length_ == offset && ahead_ == 0 && last_length_ == 0;
  }
  // All packets but the last are `length` octets long, and `offset` is a multiple of that.
  bool has(uint32_t offset, uint32_t length, bool is_last) const {
    if (is_last) return last_length_ != 0;
    const uint32_t index = offset / length;
    return index < prefix_ || (ahead_ != 0 && index != prefix_ && is_set(index));
  }
  // The last packet came first: whether both agree about the packet boundaries.
  bool fits_last(uint32_t message_bytes, uint32_t length) const {
    return last_length_ == 0 ||
           (last_length_ <= length && (message_bytes - last_length_) % length == 0);
  }

  // Not too far, and for the first time. `length` is not 0.
  void note(uint32_t offset, uint32_t length, bool is_last) {
    if (is_last) {
      last_length_ = length;
      return;
    }
    length_ = length;
    const uint32_t index = offset / length;
    if (index != prefix_) return set_ahead(index);
    ++prefix_;
    while (ahead_ != 0 && is_set(prefix_)) {
      word(prefix_) &= ~bit(prefix_);
      --ahead_;
      ++prefix_;
    }
  }

  // Calls fn(offset, length) for the received parts of a message of that length.
  template <class Fn>
  void for_each(uint32_t message_bytes, Fn&& fn) const {
    if (prefix_ != 0) fn(0u, prefix_ * length_);
    uint32_t left = ahead_;
    for (uint32_t i = prefix_ + 1; left != 0; ++i) {
      if (!is_set(i)) continue;
      fn(i * length_, length_);
      --left;
    }
    if (last_length_ != 0) fn(message_bytes - last_length_, last_length_);
  }

 private:
  static constexpr uint64_t bit(uint32_t index) { return uint64_t{1} << (index % 64); }
  uint64_t& word(uint32_t index) { return ahead_bits_[index / 64 % ahead_bits_.size()]; }
  bool is_set(uint32_t index) const {
    return (ahead_bits_[index / 64 % ahead_bits_.size()] & bit(index)) != 0;
  }
  void set_ahead(uint32_t index) {
    if (!is_clean_) ahead_bits_.fill(0);
    is_clean_ = true;
    word(index) |= bit(index);
    ++ahead_;
  }

  uint32_t prefix_ = 0;       // leading packets, all of which have arrived
  uint32_t ahead_ = 0;        // of those behind a missing one, the last packet apart
  uint32_t length_ = 0;       // of every packet but the last; 0: not known
  uint32_t last_length_ = 0;  // of the last packet; 0: it has not arrived
  bool is_clean_ = false;     // the bitmap has been written to: without `ahead_` it is all zero
  // Bit i % kSpanPackets: packet i, above prefix_.
  std::array<uint64_t, kSpanPackets / 64> ahead_bits_;
};

}  // namespace uet::ses
