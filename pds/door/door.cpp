// SYN packets: challenged, refused, or the begin of a PDC. [PDS 4, PDS-251]
#include "pds/door/door.h"

#include "wire/pds.h"

#include <algorithm>

namespace uet::pds {

// T5, T6. True: the packet is the first of the agreed PSNs. [PDS-052]
bool Door::leave_pending(Pdc& pdc, const Inbound& in, Instant now) {
  if (in.syn && in.start_psn == pdc.start.psn()) {
    pdc.life.change(PdcEvent::start_given);
    pdc.end.end_wait();
    return true;
  }
  if (in.syn) {
    pdc.life.change(PdcEvent::start_wrong);
    replies_.nack(pdc, wire::NackCode::new_start_psn, in.trigger, pdc.start.psn().value(), now);
  } else {
    res_.counters.add(Count::drop_syn_state);  // [PDS-162]
    if (in.is_control && in.ar) replies_.nack_stranger(in, wire::NackCode::unexp_event, now);
  }
  return false;
}

// Frees the PDC of a SYN that PDS or its client refused: the resend of the SYN opens a new one. The
// PDC stays in two cases: a ROD gap is noted, so that later packets behind it get no NACK each; or
// the client already tracks a message of it, whose place would stay taken after the PDC is gone.
// [PDS-047, PDS-112, T-57]
void Door::drop_if_unused(PdcHandle handle) {
  Pdc* const pdc = table_.get(handle);
  const bool is_used = pdc == nullptr || pdc->is_initiator() || pdc->proof.is_confirmed() ||
                       pdc->rx.max_received() != pdc->start.psn() - 1 || pdc->order.has_nacked() ||
                       res_.client.has_open_message(handle);
  if (is_used) return;
  res_.counters.add(Count::pdc_unused);
  ending_.discard(*pdc);
}

// [PDS-046]
Pdc* Door::look_up_syn(const Inbound& in, Instant now) {
  const FabricAddress from = replies_.reply_address(in);
  PeerId id;
  if (res_.peers.find(from, id) == nullptr) return open_target(in, from, now);
  if (Pdc* const pdc = table_.find_peer(id, in.spdcid)) {
    // An unauthenticated source opened this PDC first, and has not shown that it receives our
    // packets. [T-03]
    if (in.sdi() != 0 && pdc->is_unverified()) {
      ending_.fail(*pdc, {.reason = FailureReason::aborted}, Count::pdc_displaced, Notice::none,
                   now);
      return open_target(in, from, now);
    }
    const bool is_same = pdc->start.psn() == in.start_psn || pdc->state() == PdcState::pending;
    if (!pdc->is_initiator() && is_same) return pdc;
    if (pdc->sdi != in.sdi()) {
      res_.counters.add(Count::drop_sdi);
      return nullptr;
    }
    // The initiator sent this before it learned the new start. It may send the same PSN again after
    // it has, and a NACK would then refuse the new packet. [TSS-061, TSS-062]
    if (!pdc->is_initiator() && pdc->start.is_assigned()) {
      res_.counters.add(Count::drop_syn_state);
      return nullptr;
    }
    replies_.nack_stranger(in, wire::NackCode::invalid_syn, now);
    // The peer restarted: probe whether the old PDC still has a user. [PDS-191]
    if (!pdc->is_initiator()) closing_.ask_close(*pdc, now);
    return nullptr;
  }
  if (const Tombstone* const t = table_.find_tombstone(id, in.spdcid, in.start_psn)) {
    answer_for_tombstone(*t, in, now);
    return nullptr;
  }
  return open_target(in, from, now);
}

// T1, T3. A refused SYN leaves nothing behind. The order of refusals: what cannot open a PDC; a PSN
// too far from the start; a challenge; no bitmap; too many half-open PDCs; no room for the peer; no
// share left; no congestion context; no PDC. [PDS-045, PDS-047, PDS-048]
Pdc* Door::open_target(const Inbound& in, const FabricAddress& from, Instant now) {
  const auto refuse = [&](wire::NackCode code) -> Pdc* {
    replies_.nack_stranger(in, code, now);
    return nullptr;
  };
  if (in.is_control && in.ctl_type != wire::CtlType::noop) {
    return refuse(wire::NackCode::unexp_event);  // [PDS-040, PDS-162]
  }
  if (!in.is_control && !wire::is_request(in.next_hdr)) {
    return refuse(wire::NackCode::pdc_hdr_mismatch);
  }
  if (in.psn() - in.start_psn >= static_cast<int32_t>(res_.config.tracked_packets())) {
    return refuse(wire::NackCode::invalid_syn);
  }
  const SynProof proof = challenger_.judge(in, from, now);
  if (proof == SynProof::challenged) return nullptr;
  if (!res_.rx_pool.can_take()) return refuse(wire::NackCode::no_bitmap);
  reclaim_.relieve_pressure(false, now);
  const bool is_proven = proof == SynProof::given;
  if (!is_proven && !reclaim_.may_begin_half_open()) return refuse(wire::NackCode::no_pdc_avail);
  const auto peer = res_.peers.find_or_add(from, now);
  if (!peer) {
    res_.counters.add(Count::drop_no_peer);
    return refuse(wire::NackCode::no_pdc_avail);
  }
  const JobId job = in.is_control ? JobId{} : res_.client.job_of(in.ses);
  if (!in.use_rsv_pdc && !reclaim_.has_share(*peer, in.sdi(), job, now)) {
    return refuse(wire::NackCode::no_pdc_avail);
  }
  const auto made = opening_.make(in, {.peer = *peer, .job = job, .is_proven = is_proven}, now);
  return made.ok() ? *made : refuse(made.error());
}

// A late duplicate of something that was answered before the PDC closed. [PDS-176]
void Door::answer_for_tombstone(const Tombstone& t, const Inbound& in, Instant now) {
  res_.counters.add(Count::tombstone_hits);
  const bool is_new = in.psn().after(t.close_psn);
  if (is_new || t.is_doubtful) {
    if (!replies_.take_nack_token(res_.peers[t.peer], now)) return;  // [PDS-072]
    // Only a request could be new here, and it was not executed. [PDS-T16]
    wire::Nack h;
    h.nack_code = is_new ? wire::NackCode::closing : wire::NackCode::gtd_resp_unavail;
    h.nack_psn = in.psn();
    h.retx = in.trigger.retx;
    h.m = in.trigger.ce;
    h.spdcid = t.id;
    h.dpdcid = t.peer_id;
    h.payload = (t.close_psn + 1).value();
    return replies_.queue_nack(h, res_.peers[t.peer].address, in.trigger.ev, in.sdi());
  }
  wire::Ack h;
  h.retx = in.trigger.retx;
  h.m = in.trigger.ce;
  h.spdcid = t.id;
  h.dpdcid = t.peer_id;
  h.cack_psn = t.close_psn;
  const int32_t offset = in.psn() - t.close_psn;
  h.ack_psn_offset = offset < -32768 ? int16_t{0} : static_cast<int16_t>(offset);
  replies_.queue_ack(h, res_.peers[t.peer].address, in.trigger.ev, in.sdi());
}

}  // namespace uet::pds
