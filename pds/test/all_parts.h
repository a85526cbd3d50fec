// One object of each part, put together as in Parts. Those of the folder under test are real, the
// functions of all others are stubs: see part.h.
#pragma once

#include "pds/door/reclaim.h"
#include "pds/pdc/close_steps.h"
#include "pds/rx/ack_writer.h"
#include "pds/rx/destination.h"
#include "pds/test/part.h"
#include "pds/tx/outbox.h"
#include "pds/tx/tail_probes.h"

namespace uet::pds::part {

// Up to the end of PDCs.
class EndingParts : public PartTest {
 protected:
  explicit EndingParts(const Config& config = usual()) : PartTest(config) {
    EXPECT_TRUE(shares_.create(arena_, 8, 1).ok());
    EXPECT_TRUE(flows_.create(arena_, 8, 1).ok());
  }

  FlowTable flows_;
  Shares shares_;
  Schedule schedule_{res_};
  Contexts contexts_{res_, schedule_};
  IdleList idle_;
  Proofs proofs_{res_, schedule_};
  Replies replies_{res_, proofs_};
  TargetCounts counts_{peers_, shares_, proofs_};
  SecurePsn secure_psn_{res_};
  ResponseStore store_{res_, table_, schedule_};
  ReorderBuffer reorder_{res_};
  Closing closing_{res_, schedule_};
  Release release_{res_,      table_,      flows_, counts_, schedule_,
                   contexts_, secure_psn_, store_, reorder_};
  Ending ending_{res_, schedule_, closing_, release_};
};

class AllParts : public EndingParts {
 protected:
  using EndingParts::EndingParts;

  // With the references and counts that the end of a PDC takes back.
  Pdc& held(Pdc& pdc) {
    peers_.add_ref(peer_);
    ++context_.refs;
    if (!pdc.is_initiator()) {
      peers_.count_target(peer_, 1);
      shares_.take(0, pdc.job);
    }
    return pdc;
  }

  LossRecovery loss_{res_, schedule_};
  Outbox outbox_{res_, schedule_, idle_, proofs_, closing_, loss_};
  TailProbes probes_{res_, schedule_, proofs_, loss_, outbox_};
  Destination destination_{res_, table_};
  AckWriter acks_{res_, table_, schedule_, proofs_, replies_, store_, destination_};
  CloseSteps steps_{res_, table_, schedule_, replies_, secure_psn_, ending_, loss_, outbox_};
  Reclaim reclaim_{res_, table_, shares_, idle_, proofs_, closing_, ending_};
  TxBatch batch_;
};

}  // namespace uet::pds::part
