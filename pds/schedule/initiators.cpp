// How an initiator's PDC begins, and what follows when it has got its message or none. [PDS 2]
#include "pds/schedule/initiators.h"

namespace uet::pds {

// I1. [PDS-040, PDS-044]
Pdc* Initiators::open_for(Flow& flow, Instant now) {
  Pdc* const pdc = table_.allocate(true, res_.randomness);
  if (pdc == nullptr) {
    res_.counters.add(Count::pdc_alloc_fail);
    reclaim_.relieve_pressure(true, now);
    return nullptr;
  }
  pdc->open_as({.mode = flow.key.mode,
                .peer = flow.key.peer,
                .sdi = flow.key.sdi,
                .start = secure_psn_.initial_start(*pdc, flow.key.peer, flow.key.sdi, table_),
                .context = flow.context,
                .flow = &flow},
               res_.config, now);
  ++flow.context->refs;
  res_.peers.add_ref(pdc->peer);
  flow.pdcs.push_back(*pdc);
  ++flow.pdc_count;
  idle_.add(*pdc);
  schedule_.arm_by(*pdc, now + res_.config.idle_time);
  return pdc;
}

void Initiators::finish_opening(Pdc& pdc, bool has_message, Instant now) {
  if (!has_message) return ending_.discard(pdc);
  res_.counters.add(Count::pdc_opened_initiator);
  reclaim_.relieve_pressure(true, now);
}

}  // namespace uet::pds
