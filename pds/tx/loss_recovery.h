// Outstanding packets without an answer: marks them as lost, delayed or asked for, and computes
// the time-out of each. It sends nothing. [PDS 12]
#pragma once

#include "pds/pdc/pdc.h"
#include "pds/resources.h"
#include "pds/schedule/schedule.h"

namespace uet::pds {

class LossRecovery {
 public:
  LossRecovery(Resources& res, Schedule& schedule) : res_(res), schedule_(schedule) {}

  // The time-out of a packet. [PDS-140]
  Duration rto_of(const Pdc& pdc, const TxSlot& slot) const {
    return rto_of(pdc, slot.state.timeouts());
  }
  Duration rto_of(const Pdc& pdc, uint32_t timeouts) const;
  // How long an outstanding packet is left alone after it was sent.
  Duration limit_of(const Pdc& pdc, const TxSlot& slot) const;
  // Asks for the newest packet that went without AR, whose ACK covers all earlier ones. [PDS-064]
  void ask_for_quiet(Pdc& pdc, Instant now);
  // An ACK Request for the packet is due.
  void ask_for(Pdc& pdc, Psn psn, TxSlot& slot);
  // Takes it out of flight, and reports no loss to CMS. [PDS-240]
  void forget(Pdc& pdc, TxSlot& slot);
  // The packet gets no answer any more; the PDC continues for a while.
  void give_up(Pdc& pdc, Psn psn, TxSlot& slot, const Failure& failure, Instant now);
  // It arrived, and its answer comes later.
  void await_answer(Pdc& pdc, Psn psn, TxSlot& slot, Instant now);
  // It goes again after NACK_Retx_Time. [PDS-118]
  void delay_resend(Pdc& pdc, Psn psn, TxSlot& slot, Instant now);
  // NACK_Retx_Time is over: it goes again, or waits until the peer tracks it. True: it does not
  // wait for a time any more. [PDS-118, PDS-245]
  bool end_delay(Pdc& pdc, Psn psn, TxSlot& slot, Instant now);
  // The peer tracks more: what waited for that goes again. [PDS-245]
  void resend_tracked(Pdc& pdc, Instant now);
  // Resends everything from the gap on, except packets that the peer keeps. [PDS-078]
  void go_back(Pdc& pdc, Psn expected, Instant now);
  // It goes again as soon as CMS allows. [PDS-240]
  void mark_lost(Pdc& pdc, Psn psn, TxSlot& slot, cms::LossKind kind, Count cause, Instant now);
  // The same, where a NACK says more. `news.packet` is the slot.
  void mark_lost(Pdc& pdc, TxSlot& slot, const LossNews& news, Count cause);
  // Time-outs came too early: packets that wait for a resend because of one are still in flight,
  // and the window gets back what they took. [PDS-254, CMS-194]
  void take_back_timeouts(Pdc& pdc, Instant now);

 private:
  Resources& res_;
  Schedule& schedule_;
};

}  // namespace uet::pds
