// What goes out ahead of data: NACKs and late ACKs, stored responses, ACKs, control packets.
// [PDS 8.1, 8.3, 10.1, 13]
#include "pds/core.h"
#include "pds/door/origin.h"

#include <algorithm>

namespace uet::pds {

namespace {
constexpr uint32_t kAckRequestsPerTurn = 16;

// Of the responses that are there; some above may still be awaited.
Psn newest_stored(Pdc& pdc) {
  Psn newest;
  for (const StoredResponse& entry : pdc.stored) {
    if (!entry.is_awaited) newest = entry.trigger.psn;
  }
  return newest;
}
}  // namespace

void Core::want_control(Pdc& pdc) {
  ListNode<ControlTag>& node = pdc;
  if (!node.is_linked()) control_.push_back(pdc);
}

// --- packets without a PDC ---

void Core::send_replies(TxBatch& batch) {
  while (!replies_.empty() && !batch.full()) {
    const Reply& reply = replies_.front();
    wire::Writer w(batch.begin());
    w.bytes({reply.octets.data(), reply.length});
    batch.commit(reply.length, reply.to, reply.ev, config_.control_dscp, Ecn::not_ect, 0,
                 reply.sdi);
    replies_.pop_front();
  }
}

void Core::queue_nack(const wire::Nack& h, const FabricAddress& to, Entropy ev, uint32_t sdi) {
  const bool closes = h.nack_code == wire::NackCode::closing ||
                      h.nack_code == wire::NackCode::gtd_resp_unavail ||
                      h.nack_code == wire::NackCode::unexp_event;
  if (closes && !config_.fatal_nacks) return counters_.add(Count::drop_nack_muted);  // [PDS 22]
  if (replies_.full()) return counters_.add(Count::drop_reply_full);
  Reply reply;
  reply.to = to;
  reply.ev = ev;
  reply.sdi = sdi;
  wire::Writer w(reply.octets);
  h.emit(w);
  reply.length = static_cast<uint8_t>(w.position());
  replies_.push(reply);
  counters_.add(Count::nacks_tx);
  counters_.add(nack_tx_count(h.nack_code));
}

void Core::queue_ack(const wire::Ack& h, const FabricAddress& to, Entropy ev, uint32_t sdi) {
  if (replies_.full()) return counters_.add(Count::drop_reply_full);
  Reply reply;
  reply.to = to;
  reply.ev = ev;
  reply.sdi = sdi;
  wire::Writer w(reply.octets);
  h.emit(w);
  reply.length = static_cast<uint8_t>(w.position());
  replies_.push(reply);
  counters_.add(Count::acks_tx);
  counters_.add(Count::ack_after_close);
}

// One bucket for each peer, and one for packets without a PDC. [PDS-072]
bool Core::take_nack_token(Peer* peer, Instant now) {
  const bool may = peer != nullptr ? peer->nacks.take(config_.nacks_per_second_per_peer, now)
                                   : nacks_.take(config_.nacks_per_second_no_pdc, now);
  if (!may) counters_.add(Count::drop_nack_limited);
  return may;
}

// [PDS-110, PDS-111]
void Core::nack(Pdc& pdc, wire::NackCode code, const AckTrigger& trigger, uint32_t payload,
                Instant now) {
  Peer& peer = peers_[pdc.peer];
  if (!take_nack_token(&peer, now) || !spend(pdc, wire::Nack::kSize)) return;
  wire::Nack h;
  h.nack_code = code;
  h.nack_psn = trigger.psn;
  h.m = trigger.ce;
  h.retx = trigger.retx;
  const bool no_id = code == wire::NackCode::no_bitmap;
  h.spdcid = no_id ? Pdcid{} : pdc.id;
  h.dpdcid = pdc.peer_id;
  h.payload = payload;
  queue_nack(h, peer.address, trigger.ev, pdc.sdi);
}

void Core::nack(Pdc& pdc, wire::NackCode code, const AckTrigger& trigger, Instant now) {
  nack(pdc, code, trigger, pdc.nack_hint().value(), now);
}

FabricAddress Core::reply_address(const Inbound& in) {
  PortHint hint = in.private_mark ? PortHint::marked : PortHint::standard;
  if (!in.syn) hint = PortHint::unstated;
  return pds::reply_address(*in.datagram, hint, config_.strict_ports, peers_);
}

void Core::nack_stranger(const Inbound& in, wire::NackCode code, Instant now) {
  if (!take_nack_token(nullptr, now)) return;
  wire::Nack h;
  h.nack_code = code;
  h.nack_psn = in.psn();
  h.m = in.trigger.ce;
  h.retx = in.trigger.retx;
  h.dpdcid = in.spdcid;
  queue_nack(h, reply_address(in), in.trigger.ev, in.sdi());
}

// --- ACKs ---

// [PDS 8.1]
void Core::emit_ack(Pdc& pdc, const AckTrigger& trigger, const EncodedResponse* response,
                    TxBatch& batch, Instant now) {
  wire::AckCc h;
  const Psn cack = pdc.rx.cack_psn();
  // A PSN whose response is owed or stored is named only together with it: naming it says that the
  // answer is the default one. [PDS 8.1]
  const bool may_name = response != nullptr || !pdc.rx.is_held(trigger.psn);
  const Psn named = may_name ? trigger.psn : cack;
  h.ack.next_hdr = response != nullptr ? response->next_hdr : wire::NextHeader::none;
  // Both are said of the packet that is named. The answer that will name this one says them.
  h.ack.m = may_name && trigger.ce;
  h.ack.retx = may_name && trigger.retx;
  if (pdc.life.wants_close()) {
    h.ack.req = wire::AckRequest::close;
  } else if (pdc.stored_count > 0) {
    h.ack.req = wire::AckRequest::clear;
  }
  h.ack.cack_psn = cack;
  h.ack.ack_psn_offset = static_cast<int16_t>(named - cack);
  h.ack.spdcid = pdc.id;
  h.ack.dpdcid = pdc.peer_id;
  wire::Writer w(batch.begin());
  auto type = wire::PdsType::ack;
  // The short form says everything while nothing is out of order, the range is the one that every
  // peer assumes, and no congestion control listens. [PDS 8.3]
  if (config_.ack_form == AckForm::by_need && !pdc.rx.has_above() && pdc.told_mpr == mpr_ &&
      mpr_ == kDefaultMpr) {
    h.ack.type = type;
    h.ack.emit(w);
  } else {
    const SackBitmap sack = pdc.sweep.next(pdc.rx, trigger.psn);
    h.sack_psn_offset = static_cast<int16_t>(sack.base - cack);
    h.sack_bitmap = sack.bits;
    if (config_.ack_form == AckForm::cc) h.state = cc_state(pdc, trigger, now);
    type = emit_long_ack(h, w);
  }
  if (response != nullptr) w.bytes({response->bytes.data(), response->length});
  (void)commit_ack(pdc, type, static_cast<uint32_t>(w.position()), trigger.ev, batch);
}

// Sends the ACK that was written to the batch. False: its source is unproven and has no octets
// left, so the ACK counts as lost. [PDS-252]
bool Core::commit_ack(Pdc& pdc, wire::PdsType type, uint32_t octets, Entropy ev, TxBatch& batch) {
  if (!spend(pdc, octets)) return false;
  batch.commit(octets, peers_[pdc.peer].address, ev, config_.control_dscp, Ecn::not_ect, 0,
               pdc.sdi);
  if (type != wire::PdsType::ack) pdc.told_mpr = mpr_;
  counters_.add(type == wire::PdsType::ack      ? Count::acks_tx
                : type == wire::PdsType::ack_cc ? Count::ack_cc_tx
                                                : Count::ack_ccx_tx);
  return true;
}

// Writes the long form that is configured and returns its type. `h` has all but the range.
// [PDS 8.3]
wire::PdsType Core::emit_long_ack(wire::AckCc& h, wire::Writer& w) const {
  h.mpr = mpr_;
  if (config_.ack_form != AckForm::ccx) {
    h.emit(w);
    return wire::PdsType::ack_cc;
  }
  wire::AckCcx x;
  x.ack = h.ack;
  x.ack.type = wire::PdsType::ack_ccx;
  x.ccx_type = config_.ccx_type;
  x.mpr = h.mpr;
  x.sack_psn_offset = h.sack_psn_offset;
  x.sack_bitmap = h.sack_bitmap;
  x.emit(w);
  return wire::PdsType::ack_ccx;
}

// What the source's congestion control wants to know: how long the packet stayed here, and what has
// arrived so far. [PDS-084, PDS-241, CMS-036, CMS-037, CMS-038]
uint64_t Core::cc_state(const Pdc& pdc, const AckTrigger& trigger, Instant now) const {
  const cms::Feedback feedback = pdc.path->ccc.feedback();
  wire::NsccState s;
  const int64_t ticks = SentTick::since(trigger.arrival_tick, now).ns() / 128;
  s.service_time = static_cast<uint16_t>(std::clamp<int64_t>(ticks, 1, UINT16_MAX));
  s.rc = feedback.restore_cwnd;
  s.rcv_cwnd_pend = feedback.rcv_cwnd_pend;
  s.rcvd_bytes = static_cast<uint32_t>((uint64_t{pdc.rcvd_bytes} + 255) >> 8) & 0xFFFFFF;
  s.ooo_count = static_cast<uint16_t>(std::min<uint32_t>(pdc.rx.out_of_order(), UINT16_MAX - 1));
  return s.pack();
}

// Each stored response that is due has an ACK of its own. [PDS-080, PDS-100]
void Core::send_responses(TxBatch& batch, Instant now) {
  while (!batch.full()) {
    StoredResponse* const entry = due_responses_.pop_front();
    if (entry == nullptr) return;
    Pdc* const pdc = table_.get(entry->pdc);
    UET_ASSERT(pdc != nullptr);
    emit_ack(*pdc, entry->trigger, &entry->response, batch, now);
    counters_.add(Count::ack_response);
    if (!entry->guaranteed) free_stored(*pdc, *entry);
  }
}

void Core::send_control(TxBatch& batch, Instant now) {
  while (!batch.full()) {
    Pdc* const pdc = control_.pop_front();
    if (pdc == nullptr) return;
    if (!flush_acks(*pdc, batch, now) || !flush_control(*pdc, batch, now) ||
        !flush_ack_requests(*pdc, batch, now) || !flush_probe(*pdc, batch, now)) {
      control_.push_front(*pdc);  // the batch is full
      return;
    }
    progress_close(*pdc, batch, now);  // may free the PDC
  }
}

// One ACK for each packet above the cumulative ACK that asked for one, and for each marked one,
// with what was noted of its way. One for all the rest of a PDC follows, if these do not say it
// already. [PDS-064, PDS-070]
void Core::send_answers(TxBatch& batch, Instant now) {
  while (!answers_.empty() && !batch.full()) {
    const PendingAnswer answer = answers_.pop_front();
    Pdc* const pdc = table_.get(answer.pdc);
    if (pdc == nullptr) continue;
    const AckTrigger& trigger = answer.trigger;
    const Psn cack = pdc->rx.cack_psn();
    if (!trigger.ce && !trigger.psn.after(cack)) continue;
    Count cause = Count::ack_ar;
    const bool is_due = pdc->ack.is_due() && pdc->ack.trigger().psn == trigger.psn;
    if (is_due || pdc->ack.is_told_by_any(cack)) pdc->ack.take(cause);
    counters_.add(is_due ? cause : Count::ack_ar);
    emit_ack(*pdc, trigger, nullptr, batch, now);
  }
}

bool Core::flush_acks(Pdc& pdc, TxBatch& batch, Instant now) {
  if (!pdc.ack.is_due()) return true;
  if (batch.full()) return false;
  Count cause{};
  const AckTrigger trigger = pdc.ack.take(cause);
  counters_.add(cause);
  emit_ack(pdc, trigger, nullptr, batch, now);
  return true;
}

// --- control packets ---

// False: it may not go to a source that may be forged.
bool Core::emit_control(Pdc& pdc, const wire::Control& h, Entropy ev, TxBatch& batch) {
  wire::Writer w(batch.begin());
  h.emit(w);
  if (!spend(pdc, static_cast<uint32_t>(w.position()))) return false;
  batch.commit(static_cast<uint32_t>(w.position()), peers_[pdc.peer].address, ev,
               config_.control_dscp, Ecn::not_ect, 0, pdc.sdi);
  return true;
}

bool Core::flush_control(Pdc& pdc, TxBatch& batch, Instant now) {
  wire::Control h;
  h.isrod = pdc.mode == Mode::rod;
  h.spdcid = pdc.id;
  h.dpdcid = pdc.peer_id;
  if (pdc.clear_due) {
    if (batch.full()) return false;
    pdc.clear_due = false;
    const Psn clear = pdc.tx.base() - 1;
    // Although said before: that may have been lost, and the peer asks because it needs it.
    if (pdc.tx.base() != pdc.start_psn && pdc.state() != PdcState::syn) {
      h.ctl_type = wire::CtlType::clear_cmd;  // [PDS-104]
      h.payload = clear.value();
      emit_control(pdc, h, pdc.ev, batch);
      counters_.add(Count::clear_cmd_tx);
    }
  }
  if (pdc.probe_due) {
    if (batch.full()) return false;
    pdc.probe_due = false;
    if (pdc.is_stalled()) {
      h.ctl_type = wire::CtlType::ack_req;
      h.ar = true;
      h.psn = pdc.tx.base() - 1;
      h.payload = 0;
      emit_control(pdc, h, pdc.ev, batch);
      counters_.add(Count::ack_requests_tx);
      h.ar = false;
      h.psn = Psn{};
    }
  }
  if (pdc.clear_req_due) {
    if (batch.full()) return false;
    pdc.clear_req_due = false;
    if (config_.optional_control && pdc.stored_count > 0 &&
        SentTick::age(pdc.clear_req_tick, now) >= config_.clear_time) {
      h.ctl_type = wire::CtlType::clear_req;  // [PDS-106]
      h.payload = newest_stored(pdc).value();
      emit_control(pdc, h, pdc.ev, batch);
      pdc.clear_req_tick = SentTick::of(now);
      counters_.add(Count::clear_req_tx);
    }
  }
  return true;
}

// Packets whose answer stays away although they arrived, or was not asked for when they were sent:
// ask for it, without the data. [PDS-L6, PDS-064]
bool Core::flush_ack_requests(Pdc& pdc, TxBatch& batch, Instant now) {
  uint32_t sent = 0;
  Psn p;
  while (pdc.tx.next_asked(p)) {
    TxSlot& slot = pdc.tx[p];
    if (sent == kAckRequestsPerTurn) {  // the rest after the next time-out
      slot.ask = false;
      --pdc.ask_count;
      pdc.tx.settle(p);
      continue;
    }
    if (batch.full()) return false;
    wire::Control h;
    h.ctl_type = wire::CtlType::ack_req;
    h.isrod = pdc.mode == Mode::rod;
    h.ar = true;
    h.spdcid = pdc.id;
    h.dpdcid = pdc.peer_id;
    h.psn = p;
    emit_control(pdc, h, slot.ev, batch);
    slot.ask = false;
    --pdc.ask_count;
    slot.note_sent(now);
    // Nothing was late about what was just not asked for before.
    if (slot.sacked && slot.rto_count < UINT8_MAX) ++slot.rto_count;
    pdc.tx.settle(p);
    arm_by(pdc, now + limit_of(pdc, slot));
    ++sent;
    counters_.add(Count::ack_requests_tx);
  }
  return true;
}

}  // namespace uet::pds
