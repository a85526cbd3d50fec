// The order of the last use.
#include "pds/pdc/idle_list.h"

namespace uet::pds {

// Idle times are compared in seconds, so the order is only accurate to about a millisecond; most
// packets then need not move their PDC in the list.
void IdleList::touch(Pdc& pdc, Instant now) {
  constexpr int kGrainShift = 20;
  const bool is_recent = now.ns() >> kGrainShift == pdc.last_active.ns() >> kGrainShift;
  pdc.last_active = now;
  if (is_recent) return;
  auto& lru = lru_[pdc.is_initiator()];
  lru.erase(pdc);
  lru.push_back(pdc);
}

}  // namespace uet::pds
