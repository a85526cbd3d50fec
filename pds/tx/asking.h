// Whether packets of a PDC ask for an ACK: how many messages went without asking, and whether a
// question that needs no packet is due. [PDS-064, PDS-102]
#pragma once

#include <cstdint>

namespace uet::pds {

class Asking {
 public:
  // Another message may go without AR.
  bool may_be_quiet(uint32_t most) const { return quiet_count_ < most; }
  void note_quiet() { ++quiet_count_; }
  // A packet asks, and with it for all before.
  void note_asked() { quiet_count_ = 0; }

  // The peer is to say its cumulative ACK again, with the next control packets.
  void want_cumulative() { is_due_ = true; }
  bool is_due() const { return is_due_; }
  void note_sent() { is_due_ = false; }

 private:
  uint8_t quiet_count_ = 0;  // messages since one had AR
  bool is_due_ = false;
};

}  // namespace uet::pds
