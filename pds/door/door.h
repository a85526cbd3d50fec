// Admission of new PDCs: SYN packets, limits, tombstones. [PDS 4, 7.1 V6]
#pragma once

#include "pds/door/challenge.h"
#include "pds/door/proofs.h"
#include "pds/door/reclaim.h"
#include "pds/door/replies.h"
#include "pds/door/secure_psn.h"
#include "pds/door/shares.h"
#include "pds/door/token_bucket.h"
#include "pds/pdc/closing.h"
#include "pds/pdc/ending.h"
#include "pds/pdc/idle_list.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/rx/inbound.h"
#include "pds/schedule/contexts.h"
#include "pds/schedule/schedule.h"

namespace uet::pds {

class Door {
 public:
  Door(Resources& res, PdcTable& table, Shares& shares, Schedule& schedule, Contexts& contexts,
       IdleList& idle, Proofs& proofs, Replies& replies, SecurePsn& secure_psn, Closing& closing,
       Ending& ending, Reclaim& reclaim)
      : res_(res),
        table_(table),
        shares_(shares),
        schedule_(schedule),
        contexts_(contexts),
        idle_(idle),
        proofs_(proofs),
        replies_(replies),
        secure_psn_(secure_psn),
        closing_(closing),
        ending_(ending),
        reclaim_(reclaim),
        challenge_(res.randomness) {}

  // True: the packet is the first one of the agreed PSNs. [PDS-T5, PDS-T6]
  bool leave_pending(Pdc& pdc, const Inbound& in, Instant now);
  // A SYN that was refused leaves nothing behind.
  void drop_if_unused(PdcHandle handle);
  // The PDC of a SYN, opened if it may be; null: it was answered or dropped.
  Pdc* look_up_syn(const Inbound& in, Instant now);
  // A late packet of a PDC that has closed.
  void answer_for_tombstone(const Tombstone& t, const Inbound& in, Instant now);

 private:
  bool is_challenged(const Inbound& in, const FabricAddress& from, bool& is_proven, Instant now);
  Pdc* open_target(const Inbound& in, const FabricAddress& from, Instant now);
  bool enter(Pdc& pdc, const Inbound& in, PeerId peer, JobId job, Context& context, Instant now);
  void account(Pdc& pdc, bool is_proven, Instant now);

  Resources& res_;
  PdcTable& table_;
  Shares& shares_;
  Schedule& schedule_;
  Contexts& contexts_;
  IdleList& idle_;
  Proofs& proofs_;
  Replies& replies_;
  SecurePsn& secure_psn_;
  Closing& closing_;
  Ending& ending_;
  Reclaim& reclaim_;
  Challenge challenge_;     // of SYNs, when there are too many
  TokenBucket challenges_;  // NACKs that it sends
};

}  // namespace uet::pds
