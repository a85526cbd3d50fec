// Makes the PDC of a SYN that may open one: its context, its start, its place in the tables, its
// counts and deadlines. [PDS-T1, PDS-T3]
#pragma once

#include "pds/door/secure_psn.h"
#include "pds/door/target_counts.h"
#include "pds/pdc/idle_list.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/rx/inbound.h"
#include "pds/schedule/contexts.h"
#include "pds/schedule/schedule.h"

#include "base/result.h"

namespace uet::pds {

class Opening {
 public:
  Opening(Resources& res, PdcTable& table, Schedule& schedule, Contexts& contexts, IdleList& idle,
          SecurePsn& secure_psn, TargetCounts& counts)
      : res_(res),
        table_(table),
        schedule_(schedule),
        contexts_(contexts),
        idle_(idle),
        secure_psn_(secure_psn),
        counts_(counts) {}

  // The sender of the SYN, and the proof that it receives our packets.
  struct Source {
    PeerId peer;
    JobId job;
    bool is_proven = false;
  };
  // The PDC, or the code with which the SYN is refused: then nothing was changed.
  Result<Pdc*, wire::NackCode> make(const Inbound& in, const Source& source, Instant now);

 private:
  bool enter(Pdc& pdc, const Inbound& in, const Source& source, Context& context, Instant now);
  void account(Pdc& pdc, bool is_proven, Instant now);

  Resources& res_;
  PdcTable& table_;
  Schedule& schedule_;
  Contexts& contexts_;
  IdleList& idle_;
  SecurePsn& secure_psn_;
  TargetCounts& counts_;
};

}  // namespace uet::pds
