// How a flow is found, made and given back. [PDS 2, PDS-247]
#include "pds/schedule/flows.h"

namespace uet::pds {

Result<FlowId> Flows::flow(FlowKey key) {
  if (!res_.config.pdc_per_job) key.job = JobId(0);
  if (const Flow* const found = flows_.find(key)) return found->id;

  Flow* const made = flows_.make(key);
  if (made == nullptr) return Errc::again;
  if (has_pdcs(key.mode))
    made->context = contexts_.take(contexts_.key_for(key.peer, key.tc, key.mode));
  if (made->context != nullptr) made->context->flows.push_back(*made);
  // A flow without PDCs has no congestion context either. [CMS-009]
  const bool has_place =
      has_pdcs(key.mode) ? made->context != nullptr : connectionless_.adopt(*made).ok();
  if (!has_place) {
    flows_.free(*made);
    return Errc::again;
  }
  res_.peers.add_ref(key.peer);
  return made->id;
}

void Flows::release_flow(FlowId id) {
  Flow* const flow = flows_.get(id);
  UET_ASSERT(flow != nullptr);
  flows_.release(*flow);
}

// Closes the PDCs of released flows, and frees released flows without PDCs. Not done in a call of
// the client, which may come while a packet of such a PDC is handled. [PDS-247]
void Flows::retire_flows(Instant now) {
  while (Flow* const flow = flows_.next_released()) {
    for (Pdc& pdc : flow->pdcs) {
      if (pdc.is_unheard()) {
        ending_.free_pdc(pdc, PdcEvent::freed, Outcome::clean, Remains::nothing, now);
      } else if (!pdc.life.close_asked()) {
        closing_.begin_close(pdc);
      }
    }
    if (flow->pdcs.empty()) free_flow(*flow);
  }
}

void Flows::free_flow(Flow& flow) {
  UET_ASSERT(flow.message == MessageHandle{} && flow.pdcs.empty());
  static_cast<ListNode<ReadyFlowTag>&>(flow).unlink();
  static_cast<ListNode<ReleasedFlowTag>&>(flow).unlink();
  static_cast<ListNode<ContextFlowTag>&>(flow).unlink();
  if (flow.context != nullptr) contexts_.drop(*flow.context);
  if (flow.rudi != nullptr) connectionless_.leave(flow);
  const PeerId peer = flow.key.peer;
  flows_.free(flow);
  res_.peers.drop_ref(peer);
}

}  // namespace uet::pds
