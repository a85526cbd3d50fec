// Where both PSN spaces of a PDC begin, and how often its target has moved that. [PDS-031, PDS-051]
#pragma once

#include "base/serial.h"

#include <cstdint>

namespace uet::pds {

class Start {
 public:
  Psn psn() const { return psn_; }
  void begin_at(Psn psn) { psn_ = psn; }
  // Target: the start differs from the one in the SYN. [PDS-051]
  void note_assigned() { is_assigned_ = true; }
  bool is_assigned() const { return is_assigned_; }

  // Target: a request has come. PSNs are compared within half of their space: a PDC that has used a
  // quarter may be longer than a comparison of its ends can show. [PDS-053]
  void note_request(Psn psn) { is_long_ = is_long_ || psn - psn_ >= kLong; }
  bool is_long() const { return is_long_; }
  static constexpr int32_t kLong = int32_t{1} << 30;

  // Initiator: the target asks for another start. False: it has done so more than `max` times, and
  // the PDC fails. [PDS-051]
  [[nodiscard]] bool admit_move(uint32_t max) { return moves_++ < max; }

 private:
  Psn psn_;
  uint8_t moves_ = 0;
  bool is_assigned_ = false;
  bool is_long_ = false;
};
static_assert(sizeof(Start) == 8);

}  // namespace uet::pds
