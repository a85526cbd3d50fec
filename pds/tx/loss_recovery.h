// What is outstanding and has no answer yet: marks packets as lost, delayed or asked for, and knows
// how long each is left alone. It sends nothing. [PDS 12]
#pragma once

#include "pds/pdc/pdc.h"
#include "pds/resources.h"
#include "pds/schedule/schedule.h"

namespace uet::pds {

class LossRecovery {
 public:
  LossRecovery(Resources& res, Schedule& schedule) : res_(res), schedule_(schedule) {}

  // The time-out of a packet. [PDS-140]
  Duration rto_of(const Pdc& pdc, const TxSlot& slot) const;
  Duration limit_of(const Pdc& pdc, const TxSlot& slot) const;
  void ask_for_quiet(Pdc& pdc, Instant now);
  void ask_for(Pdc& pdc, Psn psn, TxSlot& slot);
  void give_up(Pdc& pdc, Psn psn, TxSlot& slot, const Failure& failure, Instant now);
  // It arrived, and its answer comes later.
  void await_answer(Pdc& pdc, Psn psn, TxSlot& slot, Instant now);
  void delay_resend(Pdc& pdc, Psn psn, TxSlot& slot, Instant now);
  void go_back(Pdc& pdc, Psn expected, Instant now);
  void mark_lost(Pdc& pdc, Psn psn, TxSlot& slot, cms::LossKind kind, Count cause, Instant now,
                 wire::NackCode code = {});

 private:
  Resources& res_;
  Schedule& schedule_;
};

}  // namespace uet::pds
