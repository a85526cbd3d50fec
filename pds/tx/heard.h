// Octets of this end that the peer reports as received, the counterpart of its Told; and the octets
// not yet reported. [CMS-042, CMS-065]
#pragma once

#include <algorithm>
#include <cstdint>

namespace uet::pds {

class Heard {
 public:
  // Octets that left. They count until the peer reports them, or until they are lost, refused or
  // given up.
  void on_sent(uint32_t bytes) { balance_ += static_cast<int32_t>(bytes); }
  void on_gone(uint32_t bytes) { balance_ -= static_cast<int32_t>(bytes); }

  // An ACK gave the count of received octets, in units of 256, of which 24 bits go over the wire.
  // Returns the newly reported octets: 0 for an ACK that was overtaken; never more than `most`,
  // however much the peer claims.
  uint32_t on_rcvd_units(uint32_t units, uint32_t most) {
    tells_ = true;
    const uint32_t ahead = (units - units_) & 0xFFFFFF;
    if (ahead >= 0x800000) return 0;
    units_ = units & 0xFFFFFF;
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
  uint32_t units_ : 24 = 0;
  uint32_t tells_ : 1 = false;  // an ACK had a count
  int32_t balance_ = 0;
};
static_assert(sizeof(Heard) == 8);

}  // namespace uet::pds
