// Deadlines of PDCs. Each has one timer, armed no later than the earliest deadline; when it fires,
// all parts are asked and it is armed again. [PDS-142, PDS 18 Timers]
#pragma once

#include "pds/door/proofs.h"
#include "pds/pdc/close_steps.h"
#include "pds/pdc/closing.h"
#include "pds/pdc/ending.h"
#include "pds/resources.h"
#include "pds/rx/inbox.h"
#include "pds/schedule/schedule.h"
#include "pds/tx/loss_recovery.h"
#include "pds/tx/tail_probes.h"

namespace uet::pds {

class Deadlines {
 public:
  Deadlines(Resources& res, Schedule& schedule, Proofs& proofs, Closing& closing, Ending& ending,
            LossRecovery& loss, TailProbes& probes, CloseSteps& steps, Inbox& inbox)
      : res_(res),
        schedule_(schedule),
        proofs_(proofs),
        closing_(closing),
        ending_(ending),
        loss_(loss),
        probes_(probes),
        steps_(steps),
        inbox_(inbox) {}

  // Looks at every deadline of the PDC and arms its timer again. The PDC may be gone after it.
  void on_timer(Pdc& pdc, Instant now);

 private:
  bool check_close(Pdc& pdc, Instant& next, Instant now);
  bool check_idle(Pdc& pdc, Instant& next, Instant now);
  bool check_outstanding(Pdc& pdc, Instant& next, Instant now);
  bool is_due(Pdc& pdc, Psn psn, Instant now);
  bool check_slot(Pdc& pdc, Psn psn, Instant& next, Instant now);
  bool close_given_up(Pdc& pdc, Instant now) const;
  bool out_of_patience(Pdc& pdc, Failure& failure, Instant now) const;
  bool is_refused_for_long(const Pdc& pdc, Instant now) const;
  bool is_ignored_for_long(const Pdc& pdc, Instant now) const;
  bool probe_window(Pdc& pdc, Instant& next, Instant now);
  void check_ack_delay(Pdc& pdc, Instant& next, Instant now);
  void check_clear(Pdc& pdc, Instant& next, Instant now);
  void check_stored(Pdc& pdc, Instant& next, Instant now);

  Resources& res_;
  Schedule& schedule_;
  Proofs& proofs_;
  Closing& closing_;
  Ending& ending_;
  LossRecovery& loss_;
  TailProbes& probes_;
  CloseSteps& steps_;
  Inbox& inbox_;
};

}  // namespace uet::pds
