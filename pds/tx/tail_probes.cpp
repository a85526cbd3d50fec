// When a Probe is due, and what its answer or refusal says. [PDS-145, PDS-163]
#include "pds/tx/tail_probes.h"

#include "pds/tx/may_send.h"

#include <algorithm>

namespace uet::pds {

using wire::NackCode;

// Something is outstanding that no time-out looks after yet, or that nothing else can be sent for.
bool TailProbes::waits_for_answer(Pdc& pdc) {
  if (pdc.tx.empty() || pdc.state() == PdcState::syn || pdc.losses.has_asked()) return false;
  // In SYN, the peer would take a Probe for an impossible event. [PDS-162]
  if (!pdc.is_initiator() && !pdc.proof.is_confirmed()) return false;
  // The oldest packet holds up the rest. If it was refused or has arrived, other timers handle it.
  TxSlot* const oldest = pdc.tx.find(pdc.tx.base());
  if (is_held(pdc)) return oldest != nullptr && oldest->state.in_flight() && may_probe(res_, pdc);
  if (pdc.losses.has_lost()) return false;  // about to go
  TxSlot* const slot = pdc.tx.find(pdc.tx.next() - 1);
  return slot != nullptr && slot->kind == SlotKind::data && slot->state.in_flight() &&
         !slot->state.was_resent() && !slot->state.is_quiet() && !slot->state.was_asked();
}

// Nothing more is to be sent, and no answer comes: probes for arrived packets, or resends the
// newest packet if the peer does not answer Probes. Each wait is twice the one before. False: the
// PDC fails. [PDS-145, PDS-148]
bool TailProbes::check_tail(Pdc& pdc, Instant& next, Instant now) {
  if (!waits_for_answer(pdc)) return true;  // asked for already, or the time-outs do it
  const bool exhausted = pdc.tail.silences() >= res_.config.tail_loss_max;
  // Probes of a PDC that is held are many in a short time: its time-outs count instead.
  if (exhausted && (res_.config.patience == Patience::time || is_held(pdc))) return true;
  const Duration wait = tail_wait(res_, pdc) * (int64_t{1} << pdc.tail.silences());
  const Duration silent = pdc.tail.silences() == 0 ? now - pdc.last_active : pdc.tail.age(now);
  if (silent < wait) {
    next = std::min(next, now + (wait - silent));
    return true;
  }
  if (exhausted) {
    return false;
  }
  pdc.tail.note_silence(now);
  next = std::min(next, now + wait * 2);
  if (may_probe(res_, pdc)) {
    pdc.tail.want_losses();
    pdc.tail.forget();
    schedule_.want_control(pdc);
    return true;
  }
  const Psn newest = pdc.tx.next() - 1;
  TxSlot* const slot = pdc.tx.find(newest);
  if (slot != nullptr && slot->state.in_flight()) {
    loss_.mark_lost(pdc, newest, *slot, cms::LossKind::inferred, Count::retx_tail, now);
  }
  return true;
}

// A PDC that is stopped may be the last to learn that its packets have arrived: the one that asked
// for their ACK was lost, and no other packet can ask. Other answers may come all the time. This
// Probe may overtake data, so its answer proves no loss. [PDS-145]
void TailProbes::ask_before_timeout(Pdc& pdc, Duration half, Instant& next, Instant now) {
  if (pdc.state() == PdcState::syn || !may_probe(res_, pdc)) return;
  if (!pdc.is_initiator() && !pdc.proof.is_confirmed()) return;  // [PDS-162]
  if (!is_stopped(res_, pdc, now) || pdc.tail.is_pending()) return;
  const Duration age = pdc.tail.age(now);
  if (age < half / 2) {
    next = std::min(next, now + (half / 2 - age));
    return;
  }
  pdc.tail.want();
  schedule_.want_control(pdc);
}

// psn: the last one sent, by which a refusal is known again. [PDS-163]
bool TailProbes::flush_probe(Pdc& pdc, TxBatch& batch, Instant now) {
  if (!pdc.tail.is_due()) return true;
  if (batch.full()) return false;
  pdc.tail.cancel();
  if (pdc.tx.empty() && !needs_proof(res_, pdc) && !proofs_.owes_proof(pdc)) return true;
  wire::Control h;
  h.ctl_type = wire::CtlType::probe;
  h.isrod = pdc.mode == Mode::rod;
  h.ar = true;
  h.psn = pdc.tx.next() - 1;
  h.probe_opaque = pdc.tail.send(h.psn, now);
  h.spdcid = pdc.id;
  h.dpdcid = pdc.peer_id;
  h.payload = (pdc.range.cack() + 1).value();
  if (outbox_.emit_control(pdc, h, pdc.burst.ev(), batch)) res_.counters.add(Count::probe_tx);
  if (needs_proof(res_, pdc)) schedule_.arm_by(pdc, now + proofs_.proof_wait(pdc));
  return true;
}

// The answer came soon, so no queue holds packets sent long before the Probe: missing ones are
// lost. An answer that took long only shows that the peer is alive.
void TailProbes::on_probe_answer(Pdc& pdc, const wire::Ack& ack, Instant at, Instant now) {
  if (!pdc.tail.is_answer(ack.probe_opaque)) {
    return res_.counters.add(Count::drop_probe_answer);
  }
  res_.counters.add(Count::probe_answer_rx);
  if (pdc.is_initiator()) pdc.proof.confirm();  // the target has heard us
  const bool asks_losses = pdc.tail.asks_losses();
  pdc.tail.note_answered();
  if (!asks_losses) return;
  if (pdc.tail.age(at) >= tail_loss_time(res_, pdc)) return;
  const Duration probed = pdc.tail.since(now);
  pdc.tx.for_each_oldest([&](uint8_t queue, Psn psn) {
    TxSlot& slot = pdc.tx[psn];
    // Packets sent since the Probe stand behind those sent before it.
    const bool is_old = TxQueue::is_in_flight(queue) && slot.state.in_flight() &&
                        slot.sent_for(now) > probed && !psn.after(pdc.tail.psn());
    if (is_old) loss_.mark_lost(pdc, psn, slot, cms::LossKind::inferred, Count::retx_tail, now);
    return is_old && slot.state.is_lost();
  });
}

// "What is this?": no Probe goes there again, and the PDC is unharmed. Several may have gone before
// the first refusal comes, each with the PSN that was the last one then. When all are refused, one
// more UNEXP_EVENT for a packet that was sent once may be a duplicate of the last refusal: it is
// dropped. A peer that refuses the packet itself does so again after the resend. [PDS-163]
bool TailProbes::refuses_probe(Pdc& pdc, const wire::Nack& nack) {
  const bool may_be =
      nack.nack_code == NackCode::unexp_event && !nack.nack_psn.after(pdc.tail.psn());
  if (!may_be) return false;
  if (pdc.tail.unheard() == 0) {
    const TxSlot* const slot = pdc.tail.was_refused() ? pdc.tx.find(nack.nack_psn) : nullptr;
    const bool is_copy = slot != nullptr && !slot->state.was_resent();
    if (is_copy) res_.counters.add(Count::drop_nack_answered);
    return is_copy;
  }
  // Before the peer has our first ACK it refuses any Probe, also each other one that went by then:
  // that shows no more than that it is there.
  const bool may_be_in_syn =
      !pdc.is_initiator() && (!pdc.proof.is_confirmed() || pdc.tail.has_early());
  pdc.tail.note_refused(may_be_in_syn);
  res_.counters.add(Count::probe_refused);
  if (!may_be_in_syn) res_.peers[pdc.peer].no_probe = true;
  proofs_.confirm(pdc, nack);
  return true;
}

}  // namespace uet::pds
