// Where both PSN spaces of a PDC begin, and how often its target has moved that. [PDS-031, PDS-051]
#pragma once

#include "base/serial.h"

#include <cstdint>

namespace uet::pds {

class Start {
 public:
  Psn psn() const { return psn_; }
  void begin_at(Psn psn) { psn_ = psn; }
  // Target: it is not what the SYN offered. [PDS-051]
  void note_assigned() { is_assigned_ = true; }
  bool is_assigned() const { return is_assigned_; }

  // Initiator: the target asks for another start. False: it has done so too often. [PDS-051]
  [[nodiscard]] bool admit_move() { return moves_++ < kMovesMax; }

 private:
  static constexpr uint8_t kMovesMax = 4;

  Psn psn_;
  uint8_t moves_ = 0;  // the PDC fails at kMovesMax + 1
  bool is_assigned_ = false;
};
static_assert(sizeof(Start) == 8);

}  // namespace uet::pds
