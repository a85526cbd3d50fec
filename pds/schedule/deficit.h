// What a PDC may still send in its turn, in octets: deficit round robin. [PDS-244]
#pragma once

#include <algorithm>
#include <cstdint>

namespace uet::pds {

class Deficit {
 public:
  // A turn begins. Octets that the last turn sent too much are subtracted; unused octets expire.
  void begin_turn(int32_t quantum) { octets_ = std::min(octets_ + quantum, quantum); }
  bool is_left() const { return octets_ > 0; }
  void spend(uint32_t octets) { octets_ -= static_cast<int32_t>(octets); }
  // It had nothing more to send.
  void forfeit() { octets_ = 0; }

 private:
  int32_t octets_ = 0;
};

}  // namespace uet::pds
