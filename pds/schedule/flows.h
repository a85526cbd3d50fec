// Flows of the client: found or made at a set-up act, and given back when unused. [PDS-013,
// PDS-247]
#pragma once

#include "pds/connectionless/connectionless.h"
#include "pds/pdc/closing.h"
#include "pds/pdc/ending.h"
#include "pds/resources.h"
#include "pds/schedule/contexts.h"
#include "pds/schedule/flow_table.h"

namespace uet::pds {

class Flows {
 public:
  Flows(Resources& res, FlowTable& flows, Connectionless& connectionless, Contexts& contexts,
        Closing& closing, Ending& ending)
      : res_(res),
        flows_(flows),
        connectionless_(connectionless),
        contexts_(contexts),
        closing_(closing),
        ending_(ending) {}

  bool has_released() const { return flows_.has_released(); }
  // See Pds::flow and Pds::release.
  Result<FlowId> flow(FlowKey key);
  void release_flow(FlowId id);
  // Closes the PDCs of released flows, and frees released flows without PDCs.
  void retire_flows(Instant now);

 private:
  void free_flow(Flow& flow);

  Resources& res_;
  FlowTable& flows_;
  Connectionless& connectionless_;
  Contexts& contexts_;
  Closing& closing_;
  Ending& ending_;
};

}  // namespace uet::pds
