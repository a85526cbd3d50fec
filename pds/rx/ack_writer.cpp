// Contents of ACKs: the short and the long forms, answers to Probes. [PDS 8.1, 8.3, 13]
#include "pds/rx/ack_writer.h"

#include <algorithm>

namespace uet::pds {

Result<void> AckWriter::create(Arena& arena) {
  UET_CHECK(probe_answers_.create(arena, res_.config.reply_queue));
  return answers_.create(arena, res_.config.reply_queue);
}

// Windows track what they were made for, so that the old range stays usable until the cumulative
// ACK has consumed it. Half or less is sent at once, else the peer learns it by the next ACK.
// [PDS-035, PDS-A11]
Result<void> AckWriter::set_mpr(uint8_t mpr) {
  if (mpr == 0 || mpr > res_.config.mpr) return Errc::invalid;
  mpr_ = mpr;
  table_.for_each([&](Pdc& pdc) {
    const bool is_known = pdc.state() != PdcState::syn && pdc.told.has_answered();
    if (!is_known || 2 * uint32_t{mpr} > pdc.told.mpr()) return;
    pdc.ack.want(Count::ack_mpr, pdc.ack.trigger());
    schedule_.want_control(pdc);
  });
  return {};
}

// Asks for an ACK that names the packet, unless the cumulative ACK covers it by then. [PDS-064]
void AckWriter::want_answer(Pdc& pdc, Count cause, AckTrigger trigger) {
  const bool is_own = trigger.ce || trigger.psn.after(pdc.rx.cack_psn());
  if (is_own && add_answer(pdc, trigger)) trigger.ce = false;  // reported once
  pdc.ack.want(cause, trigger);
  schedule_.want_control(pdc);
}

// False: the queue is full; the next ACK of the PDC carries this, too.
bool AckWriter::add_answer(const Pdc& pdc, const AckTrigger& trigger) {
  if (answers_.full()) {
    res_.counters.add(Count::ack_answers_full);
    return false;
  }
  answers_.push({pdc.handle, trigger});
  return true;
}

// [PDS 8.1]
void AckWriter::emit_ack(Pdc& pdc, const AckTrigger& trigger, const EncodedResponse* response,
                         TxBatch& batch, Instant now) {
  wire::AckCc h;
  const Psn cack = pdc.rx.cack_psn();
  // A PSN whose response is owed or stored is named only together with it: naming it says that the
  // answer is the default one. One that has fallen too far behind meanwhile cannot be named: the
  // cumulative ACK covers it. [PDS 8.1]
  constexpr int32_t kFarthest = -32768;
  const bool is_named_alone = !pdc.rx.is_held(trigger.psn) && trigger.psn - cack >= kFarthest;
  const bool may_name = response != nullptr || is_named_alone;
  const Psn named = may_name ? trigger.psn : cack;
  h.ack.next_hdr = response != nullptr ? response->next_hdr : wire::NextHeader::none;
  // Both are properties of the named packet. The later answer that names this packet carries them.
  h.ack.m = may_name && trigger.ce;
  h.ack.retx = may_name && trigger.retx;
  if (pdc.life.wants_close()) {
    h.ack.req = wire::AckRequest::close;
  } else if (pdc.responses.stored() > 0) {
    h.ack.req = wire::AckRequest::clear;
  }
  h.ack.cack_psn = cack;
  h.ack.ack_psn_offset = static_cast<int16_t>(named - cack);
  h.ack.spdcid = pdc.id;
  h.ack.dpdcid = pdc.peer_id;
  wire::Writer w(batch.begin());
  auto type = wire::PdsType::ack;
  // The short form is enough while nothing is out of order, the range is the one that every peer
  // assumes, and the source uses no congestion control. [PDS 8.3]
  if (res_.config.ack_form == AckForm::by_need && !pdc.rx.has_above() && pdc.told.mpr() == mpr_ &&
      mpr_ == kDefaultMpr) {
    h.ack.type = type;
    h.ack.emit(w);
  } else {
    const SackBitmap sack = pdc.sweep.next(pdc.rx, trigger.psn);
    h.sack_psn_offset = static_cast<int16_t>(sack.base - cack);
    h.sack_bitmap = sack.bits;
    if (res_.config.ack_form == AckForm::cc) tell_cc(h, pdc, trigger, now);
    type = emit_long_ack(h, w);
  }
  if (response != nullptr) w.bytes({response->bytes.data(), response->length});
  (void)commit_ack(pdc, type, static_cast<uint32_t>(w.position()), trigger.ev, batch);
}

// Sends the ACK that was written to the batch. False: its source is unproven and has no octets
// left, so the ACK counts as lost. [PDS-252]
bool AckWriter::commit_ack(Pdc& pdc, wire::PdsType type, uint32_t octets, Entropy ev,
                           TxBatch& batch) {
  if (!proofs_.spend(pdc, octets)) return false;
  batch.commit(octets, res_.peers[pdc.peer].address, ev, res_.config.control_dscp, Ecn::not_ect, 0,
               pdc.sdi);
  if (type != wire::PdsType::ack) pdc.told.note_mpr(mpr_);
  res_.counters.add(type == wire::PdsType::ack      ? Count::acks_tx
                    : type == wire::PdsType::ack_cc ? Count::ack_cc_tx
                                                    : Count::ack_ccx_tx);
  return true;
}

// Writes the long form that is configured and returns its type. `h` has all but the range.
// [PDS 8.3]
wire::PdsType AckWriter::emit_long_ack(wire::AckCc& h, wire::Writer& w) const {
  h.mpr = mpr_;
  if (res_.config.ack_form != AckForm::ccx) {
    h.emit(w);
    return wire::PdsType::ack_cc;
  }
  wire::AckCcx x;
  x.ack = h.ack;
  x.ack.type = wire::PdsType::ack_ccx;
  x.ccx_type = res_.config.ccx_type;
  x.mpr = h.mpr;
  x.sack_psn_offset = h.sack_psn_offset;
  x.sack_bitmap = h.sack_bitmap;
  x.emit(w);
  return wire::PdsType::ack_ccx;
}

// State for the source's congestion control: how long the packet stayed here and how much has
// arrived so far, or the granted credit if the source uses credit alone. [PDS-084, PDS-241,
// CMS-031, CMS-036, CMS-037, CMS-038, CMS-043]
void AckWriter::tell_cc(wire::AckCc& h, const Pdc& pdc, const AckTrigger& trigger, Instant now) {
  const uint32_t ooo = std::min<uint32_t>(pdc.rx.out_of_order(), UINT16_MAX - 1);
  if (destination_.tells_credit()) {
    h.cc_type = wire::CcType::credit;
    h.state = wire::CreditState{destination_.granted(pdc), static_cast<uint16_t>(ooo)}.pack();
    return;
  }
  const cms::Feedback feedback = destination_.feedback(now);
  wire::NsccState s;
  const int64_t ticks = SentTick::since(trigger.arrival_tick, now).ns() / 128;
  s.service_time = static_cast<uint16_t>(std::clamp<int64_t>(ticks, 1, UINT16_MAX));
  s.rc = feedback.restore_cwnd;
  s.rcv_cwnd_pend = feedback.rcv_cwnd_pend;
  s.rcvd_bytes = static_cast<uint32_t>((uint64_t{pdc.told.rcvd_bytes()} + 255) >> 8) & 0xFFFFFF;
  s.ooo_count = static_cast<uint16_t>(ooo);
  h.state = s.pack();
}

// Each stored response that is due has an ACK of its own. [PDS-080, PDS-100]
void AckWriter::send_responses(TxBatch& batch, Instant now) {
  while (!batch.full()) {
    StoredResponse* const entry = store_.next_due();
    if (entry == nullptr) return;
    Pdc* const pdc = table_.get(entry->pdc);
    UET_ASSERT(pdc != nullptr);
    emit_ack(*pdc, entry->trigger, &entry->response, batch, now);
    res_.counters.add(Count::ack_response);
    if (!entry->guaranteed) store_.free_stored(*pdc, *entry);
  }
}

// One ACK for each packet above the cumulative ACK that asked for one, and for each marked one,
// with the notes about its path. One more ACK for the rest of the PDC, unless these ACKs already
// cover it. [PDS-064, PDS-070]
void AckWriter::send_answers(TxBatch& batch, Instant now) {
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
    res_.counters.add(is_due ? cause : Count::ack_ar);
    emit_ack(*pdc, trigger, nullptr, batch, now);
  }
}

bool AckWriter::flush_acks(Pdc& pdc, TxBatch& batch, Instant now) {
  if (!pdc.ack.is_due()) return true;
  if (batch.full()) return false;
  Count cause{};
  const AckTrigger trigger = pdc.ack.take(cause);
  res_.counters.add(cause);
  emit_ack(pdc, trigger, nullptr, batch, now);
  return true;
}

// The answers are as many as the peer may cause NACKs: a flood costs no more than one of them
// would. [PDS 13, PDS-072, T-40]
void AckWriter::on_probe(Pdc& pdc, const Inbound& in, Instant now) {
  res_.counters.add(Count::probe_rx);
  if (probe_answers_.full() || !replies_.take_nack_token(res_.peers[pdc.peer], now)) {
    return res_.counters.add(Count::drop_probe_limited);
  }
  probe_answers_.push({pdc.handle, in.trigger, Psn(in.ctl_payload), in.probe_opaque});
}

void AckWriter::send_probe_answers(TxBatch& batch, Instant now) {
  while (!probe_answers_.empty() && !batch.full()) {
    const ProbeAnswer answer = probe_answers_.front();
    probe_answers_.pop_front();
    if (Pdc* const pdc = table_.get(answer.pdc)) emit_probe_answer(*pdc, answer, batch, now);
  }
}

// ACK_CC with P: the bitmap starts at the PSN in the Probe, REQ stays 0. [PDS 8.1, 8.3]
void AckWriter::emit_probe_answer(Pdc& pdc, const ProbeAnswer& answer, TxBatch& batch,
                                  Instant now) {
  const Psn cack = pdc.rx.cack_psn();
  wire::AckCc h;
  h.ack.m = answer.trigger.ce;
  h.ack.retx = answer.trigger.retx;
  h.ack.p = true;
  h.ack.probe_opaque = answer.opaque;
  h.ack.cack_psn = cack;
  h.ack.spdcid = pdc.id;
  h.ack.dpdcid = pdc.peer_id;
  const int32_t offset = answer.base - cack;
  const bool fits = offset >= INT16_MIN && offset <= INT16_MAX;
  h.sack_psn_offset = static_cast<int16_t>(fits ? offset : 1);
  h.sack_bitmap = pdc.rx.bits64(cack + h.sack_psn_offset);
  if (res_.config.ack_form == AckForm::cc) tell_cc(h, pdc, answer.trigger, now);
  wire::Writer w(batch.begin());
  const wire::PdsType type = emit_long_ack(h, w);
  const auto octets = static_cast<uint32_t>(w.position());
  if (commit_ack(pdc, type, octets, answer.trigger.ev, batch)) res_.counters.add(Count::ack_probe);
}

}  // namespace uet::pds
