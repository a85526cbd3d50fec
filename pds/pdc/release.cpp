// What a PDC holds goes back. [PDS 5, 15]
#include "pds/pdc/release.h"

namespace uet::pds {

// CMS hears no verdict on them. [PDS-240]
void Release::forget_outstanding(Pdc& pdc) {
  bool freed = false;
  for (Psn p = pdc.tx.base(); p.before(pdc.tx.next()); ++p) {
    TxSlot& slot = pdc.tx[p];
    if (slot.state.land()) {
      pdc.context->on_forgotten(pdc, slot.bytes);
      freed = true;
    }
    pdc.context->clear_marks(pdc, slot);
    slot.state.set_quiet(false);
  }
  pdc.stop_sending();
  pdc.context->correct_inflight(pdc);
  res_.cells.on_ended(pdc);
  if (freed || res_.cells.is_on()) schedule_.wake_context(*pdc.context);
  schedule_.release_timer(*pdc.context);
}

void Release::give_back(Pdc& pdc, PdcEvent why, Instant bury_until) {
  forget_outstanding(pdc);
  while (StoredResponse* const e = pdc.responses.first()) store_.free_stored(pdc, *e);
  while (ReorderedPacket* const p = pdc.order.first()) reorder_.free(pdc, *p);
  if (!pdc.is_initiator()) counts_.end(pdc);
  if (!pdc.is_initiator() && pdc.sdi != 0 && pdc.state() != PdcState::pending) {
    secure_psn_.raise_floor(pdc);
  }
  pdc.tx.abandon(res_.tx_pool);
  pdc.rx.release(res_.rx_pool);
  res_.cells.forget(pdc);
  schedule_.cancel(pdc);
  const PeerId peer = pdc.peer;
  Context& context = *pdc.context;
  if (Flow* const flow = pdc.flow) {
    flow->pdcs.erase(pdc);
    --flow->pdc_count;
    if (flow->ready) schedule_.wake_flow(*flow);
    if (flow->pdcs.empty()) flows_.note_idle(*flow);
  }
  if (pdc.state() != PdcState::closed) pdc.life.change(why);
  if (bury_until.is_never()) {
    table_.free(pdc);
  } else {
    table_.bury(pdc, bury_until);
  }
  contexts_.drop(context);
  res_.peers.drop_ref(peer);
  schedule_.feed_starved();
}

}  // namespace uet::pds
