// Flows of the client: found or made at a set-up act, given back when unused; and the
// PDCs that are opened for them. [PDS-013, PDS-247]
#pragma once

#include "pds/connectionless/connectionless.h"
#include "pds/door/reclaim.h"
#include "pds/door/secure_psn.h"
#include "pds/pdc/closing.h"
#include "pds/pdc/ending.h"
#include "pds/pdc/idle_list.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/schedule/contexts.h"
#include "pds/schedule/flow_table.h"
#include "pds/schedule/schedule.h"

namespace uet::pds {

class Flows {
 public:
  Flows(Resources& res, PdcTable& table, FlowTable& flows, Connectionless& connectionless,
        Schedule& schedule, Contexts& contexts, IdleList& idle, SecurePsn& secure_psn,
        Closing& closing, Ending& ending, Reclaim& reclaim)
      : res_(res),
        table_(table),
        flows_(flows),
        connectionless_(connectionless),
        schedule_(schedule),
        contexts_(contexts),
        idle_(idle),
        secure_psn_(secure_psn),
        closing_(closing),
        ending_(ending),
        reclaim_(reclaim) {}

  bool has_released() const { return flows_.has_released(); }
  // See Pds::flow and Pds::release.
  Result<FlowId> flow(FlowKey key);
  void release_flow(FlowId id);
  // Closes the PDCs of released flows, and frees released flows without PDCs.
  void retire_flows(Instant now);
  // A PDC for the flow, in SYN; null: no PDC is free. [PDS-I1]
  Pdc* open_initiator(Flow& flow, Instant now);
  // That PDC got a message, and fewer PDCs are free now; or it got none, and is gone.
  void finish_opening(Pdc& pdc, bool has_message, Instant now);

 private:
  void free_flow(Flow& flow);

  Resources& res_;
  PdcTable& table_;
  FlowTable& flows_;
  Connectionless& connectionless_;
  Schedule& schedule_;
  Contexts& contexts_;
  IdleList& idle_;
  SecurePsn& secure_psn_;
  Closing& closing_;
  Ending& ending_;
  Reclaim& reclaim_;
};

}  // namespace uet::pds
