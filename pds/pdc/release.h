// Gives back what a PDC holds, to each owner. [PDS 5, 15]
#pragma once

#include "pds/door/secure_psn.h"
#include "pds/door/target_counts.h"
#include "pds/pdc/pdc.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/rx/reorder_buffer.h"
#include "pds/rx/response_store.h"
#include "pds/schedule/contexts.h"
#include "pds/schedule/flow_table.h"
#include "pds/schedule/schedule.h"

namespace uet::pds {

class Release {
 public:
  Release(Resources& res, PdcTable& table, FlowTable& flows, TargetCounts& counts,
          Schedule& schedule, Contexts& contexts, SecurePsn& secure_psn, ResponseStore& store,
          ReorderBuffer& reorder)
      : res_(res),
        table_(table),
        flows_(flows),
        counts_(counts),
        schedule_(schedule),
        contexts_(contexts),
        secure_psn_(secure_psn),
        store_(store),
        reorder_(reorder) {}

  // The PDC sends no more: what it has in flight leaves the window of its context.
  void forget_outstanding(Pdc& pdc);
  // Gives back all of it, and the PDC itself. `why`: the table row that ends it. Until `bury_until`
  // a tombstone answers its late packets; never: no tombstone.
  void give_back(Pdc& pdc, PdcEvent why, Instant bury_until);

 private:
  Resources& res_;
  PdcTable& table_;
  FlowTable& flows_;
  TargetCounts& counts_;
  Schedule& schedule_;
  Contexts& contexts_;
  SecurePsn& secure_psn_;
  ResponseStore& store_;
  ReorderBuffer& reorder_;
};

}  // namespace uet::pds
