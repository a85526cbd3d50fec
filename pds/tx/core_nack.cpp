// NACKs that were received. [PDS 10.2]
#include "pds/core.h"
#include "pds/tx/nack_reaction.h"

namespace uet::pds {

using wire::NackCode;

void Core::on_nack(const RxDatagram& d, Instant now) {
  wire::Reader r(d.bytes);
  // NACK_CCX is a NACK with a state that nobody here can read.
  if (r.remaining() < wire::Nack::kSize) return counters_.add(Count::drop_malformed);
  const wire::Nack h = wire::Nack::read(r);
  if (h.nt) return connectionless_.on_nack(h, d, now);
  Pdc* const pdc = look_up_answered(h.dpdcid, h.spdcid, true, d);
  if (pdc == nullptr) return;
  if (pdc->sdi != d.sdi && h.nack_code != NackCode::new_start_psn) {
    return counters_.add(Count::drop_sdi);
  }
  process_nack(*pdc, h, d.at, now);
}

void Core::process_nack(Pdc& pdc, const wire::Nack& h, Instant at, Instant now) {
  if (h.nack_code == NackCode::trimmed_ack) return on_nack_trimmed_ack(pdc, h, now);
  if (refuses_probe(pdc, h)) return;
  // A packet that is not outstanding changes nothing. [PDS-115, PDS-116]
  if (!pdc.tx.contains(h.nack_psn)) {
    // Unless it answers the question for the cumulative ACK: nobody is there any more.
    const bool ends_stall = pdc.is_stalled() && h.nack_psn == pdc.tx.base() - 1 && has_new(pdc) &&
                            reaction_to(h.nack_code) == NackReaction::fail_pdc;
    if (!ends_stall) return counters_.add(Count::drop_nack_range);
    counters_.add(Count::nacks_rx);
    counters_.add(nack_rx_count(h.nack_code));
    return fail(pdc, {FailureReason::nack, h.nack_code, false}, Count::pdc_closed_nack,
                peer_may_hold_state(h.nack_code), now);
  }
  counters_.add(Count::nacks_rx);
  counters_.add(nack_rx_count(h.nack_code));
  // What no peer can have to say now is forged, or so late that it is void. [T-08]
  const bool is_syn = pdc.state() == PdcState::syn;
  if (!is_possible(h.nack_code, is_syn, pdc.mode == Mode::rod)) {
    return counters_.add(Count::drop_nack_state);
  }
  confirm(pdc);  // it names a packet of ours
  heard(pdc, now);
  TxSlot* const slot = pdc.tx.find(h.nack_psn);
  if (slot == nullptr) return counters_.add(Count::drop_nack_answered);
  react(pdc, h, *slot, at, now);
}

// A peer of 1.0 lost the data of our response: nack_psn is its own request. The one NACK that is
// answered. [PDS-134, PDS-072]
void Core::on_nack_trimmed_ack(Pdc& pdc, const wire::Nack& h, Instant now) {
  const Arrival how = pdc.rx.classify(h.nack_psn);
  if (how != Arrival::dup_window && how != Arrival::dup_below) {
    return counters_.add(Count::drop_nack_range);
  }
  counters_.add(Count::nacks_rx);
  counters_.add(nack_rx_count(h.nack_code));
  AckTrigger trigger = pdc.ack.trigger();
  trigger.psn = h.nack_psn;
  trigger.ce = trigger.retx = false;
  answer_again(pdc, trigger, Count::ack_duplicate, now);
}

// A peer that refuses is not silent, and may do so for as long as it lets something else pass now
// and then. [PDS-148]
void Core::note_refusal(Pdc& pdc, NackCode code, Instant now) {
  if (waits_for_application(code)) {
    pdc.refused_since = Instant::never();
  } else if (pdc.refused_since.is_never()) {
    pdc.refused_since = now;
  }
}

void Core::react(Pdc& pdc, const wire::Nack& h, TxSlot& slot, Instant at, Instant now) {
  note_refusal(pdc, h.nack_code, now);
  // Said of the oldest packet it explains why nothing is answered; of a later one it does not.
  if (waits_for_application(h.nack_code) && h.nack_psn == pdc.tx.base()) begin_wait(pdc, now);
  const NackReaction reaction = reaction_to(h.nack_code);
  // The peer is gone or done with us: that is what a Close wanted to hear. [PDS-I15, PDS-I17, I19]
  const bool closing = slot.kind == SlotKind::close_cmd;
  if (closing && reaction == NackReaction::fail_pdc) {
    if (h.nack_code == NackCode::closing_in_err) counters_.add(Count::pdc_closed_in_err);
    const bool in_err = h.nack_code == NackCode::closing_in_err;
    return free_pdc(pdc, in_err ? PdcEvent::closed_in_err : PdcEvent::close_void, !in_err, false,
                    now);
  }
  // A Close Request or NOOP that came too early for the peer, or the question for an answer: no
  // request was refused. [PDS-162, PDS 10.2, 0x19]
  const bool is_question = slot.sacked || slot.was_asked;
  if (h.nack_code == NackCode::unexp_event && (slot.kind != SlotKind::data || is_question)) {
    if (is_question && nack_limit_reached(pdc, slot, h.nack_code, at, now)) return;
    return delay_resend(pdc, h.nack_psn, slot, now);
  }
  switch (reaction) {
    case NackReaction::ignore:
      return counters_.add(Count::drop_nack_code);
    case NackReaction::resend_now:
      return react_to_loss(pdc, h, slot, at, now);
    case NackReaction::hold_window:
      pdc.range.on_refused();  // [PDS-245]
      [[fallthrough]];
    case NackReaction::resend_later:
    case NackReaction::send_clear:
      if (nack_limit_reached(pdc, slot, h.nack_code, at, now)) return;
      if (reaction == NackReaction::send_clear) {
        pdc.clear_wanted = pdc.clear_due = true;
        want_control(pdc);
      }
      return delay_resend(pdc, h.nack_psn, slot, now);
    case NackReaction::go_back_n:
      return go_back(pdc, Psn(h.payload), now);
    case NackReaction::rebase:
      return rebase(pdc, h, now);
    case NackReaction::wait:
      if (nack_limit_reached(pdc, slot, h.nack_code, at, now)) return;
      // It arrived; ask for the answer when the delay is over, without the data. [PDS-093]
      slot.sacked = true;
      slot.quiet = false;
      if (slot.lost) {
        slot.lost = false;
        --pdc.lost_count;
      }
      if (slot.in_flight) {
        // Like after a SACK: it must not keep the hole below it from being sent again.
        slot.in_flight = false;
        pdc.path->ccc.on_forgotten(slot.bytes);
        wake_path(*pdc.path);
      }
      slot.note_sent(now);
      pdc.tx.settle(h.nack_psn);
      return arm_by(pdc, now + rto_of(pdc, slot));
    case NackReaction::fail_message: {
      if (!config_.optional_control) return delay_resend(pdc, h.nack_psn, slot, now);  // [PDS 22]
      const PacketRef ref = slot.ref;
      if (slot.kind != SlotKind::data) return;
      // The message fails for good. A NOOP fills its PSN, so that no hole stays. [PDS-119, PDS-182]
      slot.kind = SlotKind::noop;
      slot.ref = {};
      mark_lost(pdc, h.nack_psn, slot, cms::LossKind::pressure, Count::retx_nack, now);
      return client_.on_failed(ref, {FailureReason::nack, h.nack_code, false}, now);
    }
    case NackReaction::fail_pdc:
      return fail_by_nack(pdc, h, slot, now);
  }
}

// What is known to have arrived is not lost, whatever a late NACK says; but the two codes that
// answer an ACK Request are about just such packets. [PDS-116, PDS 13]
void Core::react_to_loss(Pdc& pdc, const wire::Nack& h, TxSlot& slot, Instant at, Instant now) {
  const bool is_answer =
      h.nack_code == NackCode::pkt_not_rcvd || h.nack_code == NackCode::ack_with_data;
  if (slot.sacked && !is_answer) return counters_.add(Count::drop_nack_answered);
  if (nack_limit_reached(pdc, slot, h.nack_code, at, now)) return;
  slot.sacked = false;
  auto kind = cms::LossKind::inferred;
  if (h.nack_code == NackCode::trimmed) kind = cms::LossKind::trimmed;
  if (h.nack_code == NackCode::trimmed_lasthop) kind = cms::LossKind::trimmed_lasthop;
  // A mark counts once: a packet that was cut says more than that it was marked. [PDS-136]
  if (h.m && kind != cms::LossKind::trimmed) {
    pdc.path->ev.on_feedback(slot.ev, cms::PathFeedback::ecn);
  }
  mark_lost(pdc, h.nack_psn, slot, kind, Count::retx_nack, now);
  // A peer that drops what is out of order needs all that follows as well. [PDS-150]
  if (drops_behind_gaps(pdc)) go_back(pdc, h.nack_psn, now);
}

// The packet that was refused was certainly not executed, unless an earlier transmission of it was,
// or not it was refused but the question for its answer. CLOSING is for what lies beyond all that
// the peer received, so it holds for every transmission. Of the others it depends.
// [PDS-119, PDS-176, PDS-190]
void Core::fail_by_nack(Pdc& pdc, const wire::Nack& h, TxSlot& slot, Instant now) {
  Failure failure{FailureReason::nack, h.nack_code, false};
  const bool is_proof = slot.resends == 0 || h.nack_code == NackCode::closing;
  if (slot.kind == SlotKind::data && is_proof && !slot.sacked && !slot.was_asked &&
      is_certainly_not_executed(h.nack_code)) {
    failure.not_delivered = true;
    give_up(pdc, h.nack_psn, slot, failure, now);
    // With ROD nothing behind it was executed either.
    for (Psn p = h.nack_psn + 1; pdc.mode == Mode::rod && p.before(pdc.tx.next()); ++p) {
      TxSlot* const later = pdc.tx.find(p);
      if (later != nullptr && later->kind == SlotKind::data) give_up(pdc, p, *later, failure, now);
    }
    failure.not_delivered = false;
  }
  const bool is_closing = h.nack_code == NackCode::closing;
  const bool is_orphan = h.nack_code == NackCode::inv_dpdcid && pdc.is_initiator();
  if (is_closing || (is_orphan && pdc.state() != PdcState::syn)) {
    const bool is_question = slot.kind == SlotKind::close_req;  // it is closed
    if ((slot.kind == SlotKind::data || is_question) && !slot.done) {
      give_up(pdc, h.nack_psn, slot, failure, now);
    }
    const bool goes_on = is_closing ? drain(pdc, failure, now)
                                    : pdc.life.is_orphan() || await_verdicts(pdc, failure, now);
    if (goes_on && !pdc.tx.empty()) return;
  }
  fail(pdc, failure, Count::pdc_closed_nack, peer_may_hold_state(h.nack_code), now);
}

// Nobody will answer the packet, but the PDC goes on for a while.
void Core::give_up(Pdc& pdc, Psn psn, TxSlot& slot, const Failure& failure, Instant now) {
  const PacketRef ref = slot.ref;
  const SlotKind kind = slot.kind;
  if (slot.in_flight) {
    pdc.path->ccc.on_forgotten(slot.bytes);
    wake_path(*pdc.path);
  }
  if (slot.lost) --pdc.lost_count;
  if (slot.ask) --pdc.ask_count;
  slot.lost = slot.ask = slot.delayed = slot.in_flight = false;
  pdc.tx.complete(psn);
  if (kind == SlotKind::data) client_.on_failed(ref, failure, now);
}

// The peer is done with the PDC and remembers what it received on it: it has a word on every packet
// of before, however often that was sent. So they go on until each is answered or refused, which a
// living peer has done within its time-out, and everything else goes elsewhere. So it is with the
// return data of a target whose Close Request came after the peer had given its Close up. False:
// there is no such packet. [PDS-119, PDS-120, PDS-176]
bool Core::drain(Pdc& pdc, const Failure& failure, Instant now) {
  bool any = false;
  for (Psn p = pdc.tx.base(); p.before(pdc.tx.next()) && !any; ++p) {
    const TxSlot* const slot = pdc.tx.find(p);
    any = slot != nullptr && slot->kind == SlotKind::data;
  }
  if (!any) return false;
  if (!pdc.life.is_draining()) {
    pdc.life.note_draining();
    pdc.close_at = now + config_.peer_timeout;
    arm_by(pdc, pdc.close_at);
  }
  pdc.life.change(PdcEvent::peer_done);
  abort_message(pdc, failure, now);
  if (pdc.is_initiator()) {
    begin_close(pdc);
  } else {
    abort_returns(pdc, failure, now);
    pdc.close_req_due = false;
  }
  return true;
}

// The peer has no such PDC any more. Packets that were sent once and are under way will be refused
// as well, which proves that they were not executed: one RTO is given to that. Nothing is sent any
// more. False: there is nothing to wait for. [PDS-119, PDS-190]
bool Core::await_verdicts(Pdc& pdc, const Failure& failure, Instant now) {
  bool any = false;
  for (Psn p = pdc.tx.base(); p.before(pdc.tx.next()); ++p) {
    TxSlot* const slot = pdc.tx.find(p);
    if (slot == nullptr || slot->kind != SlotKind::data) continue;
    if (slot->in_flight && slot->resends == 0 && !slot->was_asked) {
      slot->quiet = false;  // nobody is there to be asked
      any = true;
    } else {
      give_up(pdc, p, *slot, failure, now);
    }
  }
  if (!any) return false;
  pdc.life.note_orphaned_by(failure.nack);
  pdc.life.change(PdcEvent::orphaned);
  pdc.close_at = now + pdc.rtt.rto(config_.rto_init, config_.rto_max, 0);
  arm_by(pdc, pdc.close_at);
  close_idle_toward(pdc.peer, now);
  ListNode<SendTag>& node = pdc;
  node.unlink();
  abort_message(pdc, failure, now);
  return true;
}

// Patience by count. By time the resends go on until the peer falls silent. [PDS-117, PDS-148]
bool Core::nack_limit_reached(Pdc& pdc, TxSlot& slot, NackCode code, Instant at, Instant now) {
  // Copies of one refusal spend the budget once: while the packet waits to be sent again, or, where
  // only its answer is asked for, until that can have come. [T-08]
  const bool was_just_asked = slot.nack_count > 0 && slot.sent_for(at) < pdc.rtt.smoothed();
  const bool is_copy = slot.sacked ? was_just_asked : slot.delayed || slot.lost;
  if (is_copy) return false;
  if (slot.nack_count < UINT8_MAX) ++slot.nack_count;
  if (config_.patience == Patience::time || config_.nack_retx_max == 31) return false;
  if (slot.nack_count <= config_.nack_retx_max) return false;
  fail(pdc, {FailureReason::nack, code, false}, Count::pdc_closed_nack,
       pdc.state() != PdcState::syn, now);
  return true;
}

// [PDS-118]
void Core::delay_resend(Pdc& pdc, Psn psn, TxSlot& slot, Instant now) {
  if (slot.in_flight) {
    slot.in_flight = false;
    pdc.path->ccc.on_lost({slot.bytes, 1, cms::LossKind::pressure, slot.ev, now});
    wake_path(*pdc.path);
  }
  if (slot.lost) {
    slot.lost = false;
    --pdc.lost_count;
  }
  slot.sacked = slot.quiet = false;
  slot.delayed = true;
  if (!gap_waits(pdc) || psn.before(pdc.gap)) pdc.gap = psn;
  slot.note_sent(now);
  pdc.tx.settle(psn);
  arm_by(pdc, now + limit_of(pdc, slot));
  want_send(pdc);
}

// Everything from the gap on, except what the peer keeps. What is behind a packet that was refused
// for a while goes when that is over. [PDS-078, PDS-150]
void Core::go_back(Pdc& pdc, Psn expected, Instant now) {
  const Psn from = pdc.tx.contains(expected) ? expected : pdc.tx.base();
  const Psn end = gap_waits(pdc) ? pdc.gap : pdc.tx.next();
  for (Psn p = from; p.before(end); ++p) {
    TxSlot* const slot = pdc.tx.find(p);
    if (slot == nullptr || slot->sacked || slot->lost) continue;
    const bool goes = slot->in_flight || (slot->delayed && drops_behind_gaps(pdc));
    if (!goes) continue;
    mark_lost(pdc, p, *slot, cms::LossKind::inferred, Count::retx_go_back_n, now);
  }
}

}  // namespace uet::pds
