// Admission of new PDCs: SYN packets, limits, tombstones. [PDS 4, 7.1 V6]
#pragma once

#include "pds/door/challenger.h"
#include "pds/door/opening.h"
#include "pds/door/reclaim.h"
#include "pds/door/replies.h"
#include "pds/pdc/closing.h"
#include "pds/pdc/ending.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/rx/inbound.h"

namespace uet::pds {

class Door {
 public:
  Door(Resources& res, PdcTable& table, Replies& replies, Closing& closing, Ending& ending,
       Reclaim& reclaim, Challenger& challenger, Opening& opening)
      : res_(res),
        table_(table),
        replies_(replies),
        closing_(closing),
        ending_(ending),
        reclaim_(reclaim),
        challenger_(challenger),
        opening_(opening) {}

  // True: the packet is the first one of the agreed PSNs. [PDS-T5, PDS-T6]
  bool leave_pending(Pdc& pdc, const Inbound& in, Instant now);
  // A SYN that was refused leaves nothing behind.
  void drop_if_unused(PdcHandle handle);
  // The PDC of a SYN, opened if it may be; null: it was answered or dropped.
  Pdc* look_up_syn(const Inbound& in, Instant now);
  // A late packet of a PDC that has closed.
  void answer_for_tombstone(const Tombstone& t, const Inbound& in, Instant now);

 private:
  Pdc* open_target(const Inbound& in, const FabricAddress& from, Instant now);

  Resources& res_;
  PdcTable& table_;
  Replies& replies_;
  Closing& closing_;
  Ending& ending_;
  Reclaim& reclaim_;
  Challenger& challenger_;
  Opening& opening_;
};

}  // namespace uet::pds
