// Probes that a source sends whose last packets stay unanswered, so that a lost tail costs
// Tail_Loss_Time and not a time-out of each packet. [PDS-L5, PDS-145, PDS-163]
#pragma once

#include "pds/door/proofs.h"
#include "pds/resources.h"
#include "pds/schedule/schedule.h"
#include "pds/tx/loss_recovery.h"
#include "pds/tx/outbox.h"

namespace uet::pds {

class TailProbes {
 public:
  TailProbes(Resources& res, Schedule& schedule, Proofs& proofs, LossRecovery& loss, Outbox& outbox)
      : res_(res), schedule_(schedule), proofs_(proofs), loss_(loss), outbox_(outbox) {}

  // False: the peer does not answer, so the PDC fails.
  bool check_tail(Pdc& pdc, Instant& next, Instant now);
  // A packet in flight has waited for half of its time-out, which is `half`. [PDS-145]
  void ask_before_timeout(Pdc& pdc, Duration half, Instant& next, Instant now);
  // A Probe that is due. False: the batch is full.
  bool flush_probe(Pdc& pdc, TxBatch& batch, Instant now);
  void on_probe_answer(Pdc& pdc, const wire::Ack& ack, Instant at, Instant now);
  // True: the NACK is about a Probe, and changes nothing else. [PDS-163]
  bool refuses_probe(Pdc& pdc, const wire::Nack& nack);

 private:
  bool waits_for_answer(Pdc& pdc);

  Resources& res_;
  Schedule& schedule_;
  Proofs& proofs_;
  LossRecovery& loss_;
  Outbox& outbox_;
};

}  // namespace uet::pds
