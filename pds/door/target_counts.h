// How many PDCs peers have opened here: of each peer, host, job and domain, and how many of them
// are half-open. A target counts from its opening to its end. [PDS-253, T-01, T-02]
#pragma once

#include "pds/door/proofs.h"
#include "pds/door/shares.h"
#include "pds/pdc/pdc.h"
#include "pds/pdc/peer_table.h"

namespace uet::pds {

class TargetCounts {
 public:
  TargetCounts(PeerTable& peers, Shares& shares, Proofs& proofs)
      : peers_(peers), shares_(shares), proofs_(proofs) {}

  void begin(const Pdc& pdc) {
    if (!pdc.proof.is_confirmed()) proofs_.begin(pdc.peer);
    if (pdc.is_reserved) return;
    peers_.count_target(pdc.peer, 1);
    shares_.take(pdc.sdi, pdc.job);
  }
  void end(const Pdc& pdc) {
    if (!pdc.proof.is_confirmed()) proofs_.end(pdc.peer);
    if (pdc.is_reserved) return;
    peers_.count_target(pdc.peer, -1);
    shares_.give_back(pdc.sdi, pdc.job);
  }

 private:
  PeerTable& peers_;
  Shares& shares_;
  Proofs& proofs_;
};

}  // namespace uet::pds
