// Which PDCs are reclaimed when PDCs become few, and how many one peer, host, job or domain may
// hold. [PDS-181, PDS-253, T-01, T-02, T-61]
#pragma once

#include "pds/door/proofs.h"
#include "pds/door/shares.h"
#include "pds/pdc/closing.h"
#include "pds/pdc/ending.h"
#include "pds/pdc/idle_list.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"

namespace uet::pds {

class Reclaim {
 public:
  Reclaim(Resources& res, PdcTable& table, Shares& shares, IdleList& idle, Proofs& proofs,
          Closing& closing, Ending& ending)
      : res_(res),
        table_(table),
        shares_(shares),
        idle_(idle),
        proofs_(proofs),
        closing_(closing),
        ending_(ending) {}

  // Few PDCs are free: the longest idle ones close or go.
  void relieve_pressure(bool is_initiator, Instant now);
  // Whether one more PDC may be half-open; counted where not. [T-01]
  bool may_begin_half_open();
  // Whether that peer may open one more PDC.
  bool has_share(PeerId peer, uint32_t sdi, JobId job, Instant now);

 private:
  // Which idle PDCs may go: half-open ones alone, or established ones by an orderly close as well.
  enum class Victims : uint8_t {
    half_open,
    established,
  };
  template <class IsCandidate>
  void retire(bool is_initiator, Victims victims, IsCandidate&& is_candidate, Instant now);
  bool reclaim(Pdc& pdc, Instant now);

  Resources& res_;
  PdcTable& table_;
  Shares& shares_;
  IdleList& idle_;
  Proofs& proofs_;
  Closing& closing_;
  Ending& ending_;
};

}  // namespace uet::pds
