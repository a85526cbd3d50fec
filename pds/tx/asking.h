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

  // The peer is asked for credit, for the context of the PDC. [CMS-127]
  void want_credit() { is_credit_due_ = true; }
  bool is_credit_due() const { return is_credit_due_; }
  void note_credit_asked() {
    is_credit_due_ = false;
    has_asked_credit_ = true;
  }
  void note_credit_answered() { has_asked_credit_ = false; }
  // It was asked, and no credit has come on this PDC since.
  bool has_asked_credit() const { return has_asked_credit_; }

 private:
  uint8_t quiet_count_ = 0;  // messages since one had AR
  bool is_due_ : 1 = false;
  bool is_credit_due_ : 1 = false;
  bool has_asked_credit_ : 1 = false;
};

}  // namespace uet::pds
