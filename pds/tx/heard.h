// How much the peer says that it has received of what this end sent: the counterpart of its Told.
// [CMS-042]
#pragma once

#include <cstdint>

namespace uet::pds {

class Heard {
 public:
  // An ACK gave the count of received octets, in units of 256, of which 24 bits go over the wire.
  // The octets that are new with it; 0 for an ACK that was overtaken.
  uint32_t on_rcvd_units(uint32_t units) {
    const uint32_t ahead = (units - units_) & 0xFFFFFF;
    if (ahead >= 0x800000) return 0;
    units_ = units;
    return ahead * 256;
  }

 private:
  uint32_t units_ = 0;
};
static_assert(sizeof(Heard) == 4);

}  // namespace uet::pds
