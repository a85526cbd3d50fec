// The steps of an orderly close that wait for something: an empty window, a gap, a tombstone.
// [PDS 5, 15]
#pragma once

#include "pds/door/replies.h"
#include "pds/door/secure_psn.h"
#include "pds/pdc/ending.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/rx/inbound.h"
#include "pds/schedule/schedule.h"
#include "pds/tx/loss_recovery.h"
#include "pds/tx/outbox.h"

#include <optional>

namespace uet::pds {

class CloseSteps {
 public:
  CloseSteps(Resources& res, PdcTable& table, Schedule& schedule, Replies& replies,
             SecurePsn& secure_psn, Ending& ending, LossRecovery& loss, Outbox& outbox)
      : res_(res),
        table_(table),
        schedule_(schedule),
        replies_(replies),
        secure_psn_(secure_psn),
        ending_(ending),
        loss_(loss),
        outbox_(outbox) {}

  // The steps that need nothing but room in the batch. False: the PDC is gone.
  bool progress_close(Pdc& pdc, TxBatch& batch, Instant now);
  // The packet of the next step, if it has not been sent.
  static std::optional<SlotKind> due_packet(const Pdc& pdc);
  // That ACK answers our Close command. The PDC is gone. [PDS-I14, PDS-I19]
  void on_close_answered(Pdc& pdc, const wire::Ack& ack, Instant now);
  // A Close command that comes before the ACK of our last return packets. [PDS-T14]
  bool is_close_early(Pdc& pdc, const Inbound& in, Instant now);
  // Acts on a Close command when all lower PSNs are there. True: the PDC is gone.
  bool finish_received_close(Pdc& pdc, Instant now);
  // True: the PDC is gone. [PDS-T12]
  bool close_request_expired(Pdc& pdc, Instant now);

 private:
  static TxSlot* newest_unanswered(Pdc& pdc, Psn* psn = nullptr);

  Resources& res_;
  PdcTable& table_;
  Schedule& schedule_;
  Replies& replies_;
  SecurePsn& secure_psn_;
  Ending& ending_;
  LossRecovery& loss_;
  Outbox& outbox_;
};

}  // namespace uet::pds
