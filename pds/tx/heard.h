// Octets of this end that the peer reports as received, the counterpart of its Told; and the octets
// not yet reported. [CMS-042, CMS-065, CMS-198]
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace uet::pds {

class Heard {
 public:
  // Octets that left. They count until the peer reports them, or until they are lost, refused or
  // given up.
  void on_sent(uint32_t bytes) {
    balance_ += static_cast<int32_t>(bytes);
    claimable_ = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{claimable_} + bytes, kHalf));
  }
  void on_gone(uint32_t bytes) { balance_ -= static_cast<int32_t>(bytes); }
  // They counted as lost; they did not leave again.
  void on_still_in_flight(uint32_t bytes) { balance_ += static_cast<int32_t>(bytes); }

  // An ACK gave the count of received octets, in units of 256, of which 24 bits go over the wire.
  // Returns the newly reported octets: 0 for an ACK that was overtaken; never more than `most`,
  // because losses have taken other octets out of flight. Returns none if the count exceeds what
  // this end has sent, and from then on for each count of this peer: it may count packets as longer
  // than they are, and then each later count is wrong, too. [CMS-198]
  std::optional<uint32_t> on_rcvd_units(uint32_t units, uint32_t most) {
    const uint32_t ahead = (units - units_) & 0xFFFFFF;
    const bool is_overtaken = ahead >= kHalf / 256;
    if (!is_overtaken && ahead * 256 > claimable_) is_unreliable_ = true;
    if (is_unreliable_) return std::nullopt;
    tells_ = true;
    if (is_overtaken) return 0;
    units_ = units & 0xFFFFFF;
    claimable_ -= ahead * 256;
    const uint32_t bytes = std::min(ahead * 256, most);
    on_gone(bytes);
    return bytes;
  }
  // An ACK without such a count: acknowledged octets have arrived. Returns 0 if the peer counts:
  // another ACK reports these octets. [CMS-191]
  uint32_t on_acked(uint32_t bytes) {
    if (is_unreliable_) return on_acked_instead(bytes);
    if (tells_) return 0;
    on_gone(bytes);
    return bytes;
  }
  // An ACK whose count is not used: acknowledged octets have arrived, as far as they are in flight,
  // because counts that were used may have reported them. [CMS-198]
  uint32_t on_acked_instead(uint32_t bytes) {
    const uint32_t arrived = std::min(bytes, static_cast<uint32_t>(std::max(balance_, 0)));
    on_gone(arrived);
    return arrived;
  }
  // Octets sent less octets reported or gone. For an honest peer this is what is in flight, or a
  // little less, because the peer rounds up. [CMS-037]
  int32_t balance() const { return balance_; }
  // Nothing is in flight: returns the difference of the sums, and restarts.
  int32_t take_rest() {
    const int32_t rest = balance_;
    balance_ = 0;
    return rest;
  }

 private:
  static constexpr uint32_t kHalf = 1u << 31;  // a count is ahead by less than this [CMS-042]

  uint32_t units_ : 24 = 0;
  uint32_t tells_ : 1 = false;          // an ACK had a count
  uint32_t is_unreliable_ : 1 = false;  // a count was impossible
  int32_t balance_ = 0;
  // Octets by which a count can be ahead: all that left, lost packets and resends included, less
  // those reported, and 255 by which the peer rounds up. At most kHalf: no count is further ahead.
  uint32_t claimable_ = 255;
};
static_assert(sizeof(Heard) == 12);

}  // namespace uet::pds
