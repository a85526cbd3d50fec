// The entropy value of the packets that a PDC sends now, and how many more leave under it.
// [PDS-004, PDS-146]
#pragma once

#include "base/packet.h"

#include <cstdint>

namespace uet::pds {

class Burst {
 public:
  Entropy ev() const { return ev_; }
  bool is_over() const { return left_ == 0; }
  // `quarters` of a packet may leave under `ev`.
  void begin(Entropy ev, uint32_t quarters) {
    ev_ = ev;
    left_ = static_cast<uint16_t>(quarters);
  }
  void end() { left_ = 0; }
  void spend(uint16_t quarters) {
    left_ = left_ > quarters ? static_cast<uint16_t>(left_ - quarters) : uint16_t{0};
  }

 private:
  Entropy ev_;
  uint16_t left_ = 0;  // quarters of a packet
};

}  // namespace uet::pds
