// Flows and paths: found or made at a set-up act, given back when nobody uses them. [PDS-247]
#include "pds/core.h"

#include <algorithm>

namespace uet::pds {

namespace {
// The longest SES header before the payload; for asking CMS about a packet not yet pulled.
constexpr uint32_t kSesHeaderBytes = 44;
}  // namespace

Path* Core::path(PathKey key) {
  if (Path* const* const found = path_by_key_.find(key)) {
    ++(*found)->refs;
    return *found;
  }
  cms::Config cms = cms_;
  const uint32_t payload = peers_[key.peer].payload_toward(config_.payload_mtu);
  cms.mtu_bytes += payload - config_.payload_mtu;  // either may be the larger one
  Path* const made = paths_.alloc(key, cms, rng_);
  if (made == nullptr) return nullptr;
  if (!path_by_key_.insert(key, made).ok()) {
    paths_.free(made);
    return nullptr;
  }
  made->refs = 1;
  made->packet_bytes_max = cms::nominal_bytes(wire::Request::kSize + kSesHeaderBytes + payload);
  return made;
}

void Core::drop_path(Path& path) {
  UET_ASSERT(path.refs > 0);
  if (--path.refs > 0) return;
  UET_ASSERT(path.ccc.inflight_bytes() == 0);
  if (path.demands != nullptr) demands_.free(path.demands);
  path_by_key_.erase(path.key);
  paths_.free(&path);
}

Result<FlowId> Core::flow(FlowKey key) {
  if (!config_.pdc_per_job) key.job = JobId(0);
  if (const Flow* const found = flows_.find(key)) return found->id;

  Flow* const made = flows_.make(key);
  if (made == nullptr) return Errc::again;
  if (has_pdcs(key.mode)) made->path = path({key.peer, key.tc});
  if (made->path != nullptr) made->path->flows.push_back(*made);
  // What has no PDC has no congestion context either. [CMS-009]
  const bool has_place =
      has_pdcs(key.mode) ? made->path != nullptr : connectionless_.adopt(*made).ok();
  if (!has_place) {
    flows_.free(*made);
    return Errc::again;
  }
  peers_.add_ref(key.peer);
  return made->id;
}

void Core::release_flow(FlowId id) {
  Flow* const flow = flows_.get(id);
  UET_ASSERT(flow != nullptr);
  flows_.release(*flow);
}

// Closes what released flows still have, and frees those that have nothing. Not done when the
// client calls: that may be in the midst of a packet of such a PDC. [PDS-247]
void Core::retire_flows(Instant now) {
  while (Flow* const flow = flows_.next_released()) {
    for (Pdc& pdc : flow->pdcs) {
      if (is_unheard(pdc)) {
        free_pdc(pdc, PdcEvent::freed, true, false, now);
      } else if (!pdc.life.close_asked()) {
        begin_close(pdc);
      }
    }
    if (flow->pdcs.empty()) free_flow(*flow);
  }
}

void Core::free_flow(Flow& flow) {
  UET_ASSERT(flow.message == MessageHandle{} && flow.pdcs.empty());
  static_cast<ListNode<ReadyFlowTag>&>(flow).unlink();
  static_cast<ListNode<ReleasedFlowTag>&>(flow).unlink();
  static_cast<ListNode<PathFlowTag>&>(flow).unlink();
  if (flow.path != nullptr) drop_path(*flow.path);
  if (flow.rudi != nullptr) connectionless_.leave(flow);
  const PeerId peer = flow.key.peer;
  flows_.free(flow);
  peers_.drop_ref(peer);
}

}  // namespace uet::pds
