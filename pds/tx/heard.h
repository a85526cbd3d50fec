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
  // because losses have taken other octets out of flight. Returns none, and changes nothing, if no
  // honest peer can have counted so much.
  std::optional<uint32_t> on_rcvd_units(uint32_t units, uint32_t most) {
    const uint32_t ahead = (units - units_) & 0xFFFFFF;
    const bool is_overtaken = ahead >= kHalf / 256;
    if (!is_overtaken && ahead * 256 > claimable_) return std::nullopt;
    tells_ = true;
    if (is_overtaken) return 0;
    advance(ahead);
    const uint32_t bytes = std::min(ahead * 256, most);
    on_gone(bytes);
    return bytes;
  }
  // An ACK without such a count: acknowledged octets have arrived. Returns 0 if the peer counts:
  // another ACK reports these octets. [CMS-191]
  uint32_t on_acked(uint32_t bytes) {
    if (tells_) return 0;
    on_gone(bytes);
    return bytes;
  }
  // An ACK with an impossible count: acknowledged octets have arrived, as far as they are in
  // flight. Later counts include them, so that they count as reported. [CMS-198]
  uint32_t on_acked_instead(uint32_t bytes) {
    const uint32_t arrived = std::min(bytes, static_cast<uint32_t>(std::max(balance_, 0)));
    advance(std::min(arrived, claimable_) / 256);
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

  void advance(uint32_t units) {
    units_ = (units_ + units) & 0xFFFFFF;
    claimable_ -= units * 256;
  }

  uint32_t units_ : 24 = 0;
  uint32_t tells_ : 1 = false;  // an ACK had a count
  int32_t balance_ = 0;
  // Octets by which a count can be ahead: all that left, lost packets and resends included, less
  // those reported, and 255 by which the peer rounds up. At most kHalf: no count is further ahead.
  uint32_t claimable_ = 255;
};
static_assert(sizeof(Heard) == 12);

}  // namespace uet::pds
