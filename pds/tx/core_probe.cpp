// Probes: answered at the destination, and sent by a source whose last packets stay unanswered, so
// that a lost tail costs Tail_Loss_Time and not a time-out of each packet. [PDS-L5, PDS-145,
// PDS-163]
#include "pds/core.h"

#include <algorithm>

namespace uet::pds {

using wire::NackCode;

namespace {
constexpr Duration kHeldWaitMin = Duration::microseconds(100);  // ends are late by as much
}

// --- destination ---

// The answers are as many as the peer may cause NACKs: a flood costs no more than one of them
// would. [PDS 13, PDS-072, T-40]
void Core::on_probe(Pdc& pdc, const Inbound& in, Instant now) {
  counters_.add(Count::probe_rx);
  if (probe_answers_.full() || !take_nack_token(&peers_[pdc.peer], now)) {
    return counters_.add(Count::drop_probe_limited);
  }
  probe_answers_.push({pdc.handle, in.trigger, Psn(in.ctl_payload), in.probe_opaque});
}

void Core::send_probe_answers(TxBatch& batch, Instant now) {
  while (!probe_answers_.empty() && !batch.full()) {
    const ProbeAnswer answer = probe_answers_.front();
    probe_answers_.pop_front();
    if (Pdc* const pdc = table_.get(answer.pdc)) emit_probe_answer(*pdc, answer, batch, now);
  }
}

// ACK_CC with P: the bitmap starts where the Probe wants it, REQ stays 0. [PDS 8.1, 8.3]
void Core::emit_probe_answer(Pdc& pdc, const ProbeAnswer& answer, TxBatch& batch, Instant now) {
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
  if (config_.ack_form == AckForm::cc) h.state = cc_state(pdc, answer.trigger, now);
  wire::Writer w(batch.begin());
  const wire::PdsType type = emit_long_ack(h, w);
  const auto octets = static_cast<uint32_t>(w.position());
  if (commit_ack(pdc, type, octets, answer.trigger.ev, batch)) counters_.add(Count::ack_probe);
}

// --- source ---

// There is more to send, and a window does not let it go: of the PDC, of the peer or of CMS. What
// is to be sent again waits for CMS only.
bool Core::is_held(const Pdc& pdc) const {
  if (pdc.lost_count > 0) return !pdc.path->ccc.may_send(pdc.path->packet_bytes_max);
  return has_new(pdc);
}

bool Core::may_probe(const Pdc& pdc) const {
  return config_.probe && !peers_[pdc.peer].no_probe;  // [PDS-163]
}

// Tail_Loss_Time. A PDC that is held would be sending, so silence says more: three round trips are
// enough there, because what is lost keeps everything behind it waiting. [PDS-145]
Duration Core::tail_wait(const Pdc& pdc) const {
  const Duration srtt = pdc.rtt.smoothed();
  if (!is_held(pdc) || srtt == Duration::zero()) return config_.tail_loss;
  return std::min(config_.tail_loss, std::max(srtt * 3, kHeldWaitMin));
}

void Core::arm_if_held(Pdc& pdc, Instant now) {
  if (!pdc.tx.empty() && is_held(pdc)) arm_by(pdc, now + tail_wait(pdc));
}

// Something is outstanding that no time-out looks after yet, or that nothing else can be sent for.
bool Core::waits_for_answer(Pdc& pdc) {
  if (pdc.tx.empty() || pdc.state() == PdcState::syn || pdc.ask_count > 0) return false;
  // In SYN, the peer would take a Probe for an impossible event. [PDS-162]
  if (!pdc.is_initiator() && !pdc.confirmed) return false;
  // The oldest holds up the rest. That it was refused, or arrived, is known: others look after it.
  TxSlot* const oldest = pdc.tx.find(pdc.tx.base());
  if (is_held(pdc)) return oldest != nullptr && oldest->in_flight && may_probe(pdc);
  if (pdc.lost_count > 0) return false;  // about to go
  TxSlot* const slot = pdc.tx.find(pdc.tx.next() - 1);
  return slot != nullptr && slot->kind == SlotKind::data && slot->in_flight && slot->resends == 0 &&
         !slot->quiet && !slot->was_asked;
}

// Nothing more goes out, nothing is heard: asks what has arrived, or where nobody answers Probes
// sends the newest packet again. Each wait is twice the one before. False: the PDC failed.
// [PDS-145, PDS-148]
bool Core::check_tail(Pdc& pdc, Instant& next, Instant now) {
  if (!waits_for_answer(pdc)) return true;  // asked for already, or the time-outs do it
  const bool exhausted = pdc.tail.count >= config_.tail_loss_max;
  // Probes of a PDC that is held are many in a short time: its time-outs count instead.
  if (exhausted && (config_.patience == Patience::time || is_held(pdc))) return true;
  const Duration wait = tail_wait(pdc) * (int64_t{1} << pdc.tail.count);
  const Duration silent =
      pdc.tail.count == 0 ? now - pdc.last_active : SentTick::age(pdc.tail.tick, now);
  if (silent < wait) {
    next = std::min(next, now + (wait - silent));
    return true;
  }
  if (exhausted) {
    fail(pdc, {FailureReason::timeout, {}, false}, Count::pdc_closed_timeout, !pdc.is_initiator(),
         now);
    return false;
  }
  ++pdc.tail.count;
  pdc.tail.tick = SentTick::of(now);
  next = std::min(next, now + wait * 2);
  if (may_probe(pdc)) {
    pdc.tail.is_due = true;
    pdc.tail.is_out = false;
    want_control(pdc);
    return true;
  }
  const Psn newest = pdc.tx.next() - 1;
  TxSlot* const slot = pdc.tx.find(newest);
  if (slot != nullptr && slot->in_flight) {
    mark_lost(pdc, newest, *slot, cms::LossKind::inferred, Count::retx_tail, now);
  }
  return true;
}

// psn: the last one sent, by which a refusal is known again. [PDS-163]
bool Core::flush_probe(Pdc& pdc, TxBatch& batch, Instant now) {
  if (!pdc.tail.is_due) return true;
  if (batch.full()) return false;
  pdc.tail.is_due = false;
  if (pdc.tx.empty() && !needs_proof(pdc) && !owes_proof(pdc)) return true;
  wire::Control h;
  h.ctl_type = wire::CtlType::probe;
  h.isrod = pdc.mode == Mode::rod;
  h.ar = true;
  h.probe_opaque = ++pdc.tail.opaque;
  h.psn = pdc.tx.next() - 1;
  h.spdcid = pdc.id;
  h.dpdcid = pdc.peer_id;
  h.payload = (pdc.range.cack() + 1).value();
  pdc.tail.psn = h.psn;
  pdc.tail.tick = SentTick::of(now);
  pdc.tail.is_out = true;
  if (pdc.tail.unheard < TailProbe::kUnheardMax) ++pdc.tail.unheard;
  if (emit_control(pdc, h, pdc.ev, batch)) counters_.add(Count::probe_tx);
  if (needs_proof(pdc)) arm_by(pdc, now + proof_wait(pdc));
  return true;
}

// The answer came soon, so no queue holds what was sent long before the Probe: what is missing is
// lost. An answer that took long only shows that the peer is there.
void Core::on_probe_answer(Pdc& pdc, const wire::Ack& ack, Instant at, Instant now) {
  if (!pdc.tail.is_out || ack.probe_opaque != pdc.tail.opaque) {
    return counters_.add(Count::drop_probe_answer);
  }
  counters_.add(Count::probe_answer_rx);
  if (pdc.is_initiator()) pdc.confirmed = true;  // the target has heard us
  pdc.tail.is_out = false;
  pdc.tail.unheard = 0;
  if (SentTick::age(pdc.tail.tick, at) >= config_.tail_loss) return;
  const Duration probed = SentTick::since(pdc.tail.tick, now);
  pdc.tx.for_each_oldest([&](uint8_t queue, Psn psn) {
    TxSlot& slot = pdc.tx[psn];
    // What was sent since the Probe stands behind what was sent before it.
    const bool is_old = TxQueue::is_in_flight(queue) && slot.in_flight &&
                        slot.sent_for(now) > probed && !psn.after(pdc.tail.psn);
    if (is_old) mark_lost(pdc, psn, slot, cms::LossKind::inferred, Count::retx_tail, now);
    return is_old && slot.lost;
  });
}

// "What is this?": no Probe goes there again, and the PDC is unharmed. Several may have gone before
// the first refusal comes, each with the PSN that was the last one then. When all are refused, one
// more UNEXP_EVENT for a packet that was sent once may be a duplicate of the last refusal: it is
// dropped. A peer that refuses the packet itself does so again after the resend. [PDS-163]
bool Core::refuses_probe(Pdc& pdc, const wire::Nack& nack) {
  const bool may_be = nack.nack_code == NackCode::unexp_event && !nack.nack_psn.after(pdc.tail.psn);
  if (!may_be) return false;
  if (pdc.tail.unheard == 0) {
    const TxSlot* const slot = pdc.probe_refused ? pdc.tx.find(nack.nack_psn) : nullptr;
    const bool is_copy = slot != nullptr && slot->resends == 0;
    if (is_copy) counters_.add(Count::drop_nack_answered);
    return is_copy;
  }
  --pdc.tail.unheard;
  pdc.tail.is_out = false;
  pdc.probe_refused = true;
  counters_.add(Count::probe_refused);
  // Before the peer has our first ACK it refuses any Probe: that shows no more than that it is
  // there.
  if (!pdc.is_unverified()) peers_[pdc.peer].no_probe = true;
  confirm(pdc);
  return true;
}

}  // namespace uet::pds
