// Received NACKs, and the reaction of a source to each. [PDS 10.2]
#pragma once

#include "pds/door/proofs.h"
#include "pds/pdc/closing.h"
#include "pds/pdc/ending.h"
#include "pds/pdc/idle_list.h"
#include "pds/resources.h"
#include "pds/rx/ack_scheduler.h"
#include "pds/schedule/schedule.h"
#include "pds/tx/loss_recovery.h"
#include "pds/tx/tail_probes.h"

#include "wire/pds.h"

#include <optional>

namespace uet::pds {

class NackReader {
 public:
  NackReader(Resources& res, Schedule& schedule, IdleList& idle, Proofs& proofs, Closing& closing,
             Ending& ending, LossRecovery& loss, TailProbes& probes)
      : res_(res),
        schedule_(schedule),
        idle_(idle),
        proofs_(proofs),
        closing_(closing),
        ending_(ending),
        loss_(loss),
        probes_(probes) {}

  // A NACK of the PDC, which may be gone after it. Returns the packet of the peer that is to be
  // answered again, if the NACK says that the answer was lost. [PDS-134]
  std::optional<AckTrigger> process_nack(Pdc& pdc, const wire::Nack& h, const RxDatagram& d,
                                         Instant now);

 private:
  void rebase(Pdc& pdc, const wire::Nack& h, Instant now);
  std::optional<AckTrigger> read_trimmed_ack(const Pdc& pdc, const wire::Nack& h);
  void read_refusal(Pdc& pdc, const wire::Nack& h, const RxDatagram& d, Instant now);
  void note_refusal(Pdc& pdc, const wire::Nack& h, const TxSlot& slot, Instant now);
  void react(Pdc& pdc, const wire::Nack& h, TxSlot& slot, Instant at, Instant now);
  void fail_message(Pdc& pdc, const wire::Nack& h, TxSlot& slot, Instant now);
  void react_to_loss(Pdc& pdc, const wire::Nack& h, TxSlot& slot, Instant at, Instant now);
  void fail_by_nack(Pdc& pdc, const wire::Nack& h, TxSlot& slot, Instant now);
  bool drain(Pdc& pdc, const Failure& failure, Instant now);
  bool await_verdicts(Pdc& pdc, const Failure& failure, Instant now);
  bool nack_limit_reached(Pdc& pdc, TxSlot& slot, wire::NackCode code, Instant at, Instant now);

  Resources& res_;
  Schedule& schedule_;
  IdleList& idle_;
  Proofs& proofs_;
  Closing& closing_;
  Ending& ending_;
  LossRecovery& loss_;
  TailProbes& probes_;
};

}  // namespace uet::pds
