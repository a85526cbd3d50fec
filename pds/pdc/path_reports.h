// Reports of the system about the route to a peer: a smaller MTU, or no process at the port.
// [PDS-249, PDS-250]
#pragma once

#include "pds/connectionless/connectionless.h"
#include "pds/path_limit.h"
#include "pds/pdc/closing.h"
#include "pds/pdc/ending.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/schedule/schedule.h"
#include "pds/tx/loss_recovery.h"

#include <optional>

namespace uet::pds {

class PathReports {
 public:
  PathReports(Resources& res, PdcTable& table, Connectionless& connectionless, Schedule& schedule,
              Closing& closing, Ending& ending, LossRecovery& loss)
      : res_(res),
        table_(table),
        connectionless_(connectionless),
        schedule_(schedule),
        closing_(closing),
        ending_(ending),
        loss_(loss) {}

  // The network reported that `address` cannot be reached (ICMP); ends in failure after
  // config.unreachable_time of nothing else. [decision 4]
  void on_unreachable(const FabricAddress& address, Instant now);
  // The system says what the route to `to` carries now. If a packet in flight to that peer is
  // longer than the limit, the peer's payload size is lowered, packets that cannot be sent shorter
  // fail with FailureReason::too_long, and the old size is returned. Otherwise nothing changes.
  // [PDS-250]
  std::optional<PathChange> on_path_limit(const FabricAddress& to, PathLimit limit, Instant now);

 private:
  Resources& res_;
  PdcTable& table_;
  Connectionless& connectionless_;
  Schedule& schedule_;
  Closing& closing_;
  Ending& ending_;
  LossRecovery& loss_;
};

}  // namespace uet::pds
