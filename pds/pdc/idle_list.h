// When each PDC was last used, and which ones have been idle the longest. [PDS-181]
#pragma once

#include "pds/pdc/pdc.h"

namespace uet::pds {

class IdleList {
 public:
  void add(Pdc& pdc) { lru_[pdc.is_initiator()].push_back(pdc); }
  // PDCs of one role, the longest idle first.
  IntrusiveList<Pdc, LruTag>& of(bool is_initiator) { return lru_[is_initiator]; }
  // A packet of the PDC has passed, either way.
  void touch(Pdc& pdc, Instant now);

 private:
  IntrusiveList<Pdc, LruTag> lru_[2];  // by role: targets, initiators; longest idle first
};

}  // namespace uet::pds
