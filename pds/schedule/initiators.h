// Opens the PDCs of flows, as the initiator: in SYN, in the tables and lists that they belong to,
// with their deadline. [PDS-I1, PDS-040, PDS-044]
#pragma once

#include "pds/door/reclaim.h"
#include "pds/door/secure_psn.h"
#include "pds/pdc/ending.h"
#include "pds/pdc/idle_list.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/schedule/schedule.h"

namespace uet::pds {

class Initiators {
 public:
  Initiators(Resources& res, PdcTable& table, Schedule& schedule, IdleList& idle,
             SecurePsn& secure_psn, Ending& ending, Reclaim& reclaim)
      : res_(res),
        table_(table),
        schedule_(schedule),
        idle_(idle),
        secure_psn_(secure_psn),
        ending_(ending),
        reclaim_(reclaim) {}

  // A PDC for the flow, in SYN; null: no PDC is free. [PDS-I1]
  Pdc* open_for(Flow& flow, Instant now);
  // That PDC got a message, and fewer PDCs are free now; or it got none, and is gone.
  void finish_opening(Pdc& pdc, bool has_message, Instant now);

 private:
  Resources& res_;
  PdcTable& table_;
  Schedule& schedule_;
  IdleList& idle_;
  SecurePsn& secure_psn_;
  Ending& ending_;
  Reclaim& reclaim_;
};

}  // namespace uet::pds
