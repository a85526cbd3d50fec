// The reactions to NACK codes. [PDS 10.2]
#include "pds/tx/nack_reader.h"

#include "pds/nack_codes.h"
#include "pds/tx/may_send.h"

namespace uet::pds {

using wire::NackCode;

namespace {
Notice notice_after(NackCode code) {
  return peer_may_hold_state(code) ? Notice::close : Notice::none;
}
}  // namespace

// Everything that was sent moves to the new start and goes again. [PDS-051, PDS-I4]
void NackReader::rebase(Pdc& pdc, const wire::Nack& h, Instant now) {
  const Psn start(h.payload);
  if (start == pdc.start.psn()) return res_.counters.add(Count::drop_nack_code);
  if (!pdc.start.admit_move(res_.config.rebases_max)) {
    res_.counters.add(Count::psn_rebase_limit);
    // Nothing was taken at any of these starts: another PDC may try. [TSS-069]
    const Failure untaken{
        .reason = FailureReason::nack, .nack = h.nack_code, .not_delivered = true};
    return ending_.fail(pdc, untaken, Count::pdc_closed_nack, Notice::none, now);
  }
  pdc.life.change(PdcEvent::start_given);
  res_.counters.add(Count::psn_rebased);
  pdc.tx.rebase(start - pdc.start.psn());
  pdc.rx.release(res_.rx_pool);
  pdc.begin_at(start, res_.config);
  pdc.waiting.begin(now);
  for (Psn p = pdc.tx.base(); p.before(pdc.tx.next()); ++p) {
    TxSlot* const slot = pdc.tx.find(p);
    if (slot == nullptr) continue;
    slot->state.forgive();
    slot->state.unarrive();
    loss_.forget(pdc, *slot);  // refused for its number, not for its path
    loss_.mark_lost(pdc, p, *slot, cms::LossKind::inferred, Count::retx_nack, now);
  }
  schedule_.wake_context(*pdc.context);
}

std::optional<AckTrigger> NackReader::process_nack(Pdc& pdc, const wire::Nack& h,
                                                   const RxDatagram& d, Instant now) {
  if (h.nack_code == NackCode::trimmed_ack) return read_trimmed_ack(pdc, h);
  read_refusal(pdc, h, d, now);
  return std::nullopt;
}

void NackReader::read_refusal(Pdc& pdc, const wire::Nack& h, const RxDatagram& d, Instant now) {
  if (probes_.refuses_probe(pdc, h)) return;
  // A packet that is not outstanding changes nothing. [PDS-115, PDS-116]
  if (!pdc.tx.contains(h.nack_psn)) {
    // Unless it answers the ACK Request for the cumulative ACK or for credit: the peer has no PDC
    // any more. UNEXP_EVENT says no such thing: it refuses a control packet, or is a copy of the
    // refusal of a Probe, which names that PSN where nothing is outstanding. [PDS-163]
    const bool is_asked = is_held_by_range(pdc) || pdc.asking.has_asked_credit();
    const bool is_answer = is_asked && h.nack_psn == pdc.tx.base() - 1 &&
                           h.nack_code != NackCode::unexp_event &&
                           reaction_to(h.nack_code) == NackReaction::fail_pdc;
    if (!is_answer) return res_.counters.add(Count::drop_nack_range);
    res_.counters.add(Count::nacks_rx);
    res_.counters.add(nack_rx_count(h.nack_code));
    return ending_.fail(pdc, {.reason = FailureReason::nack, .nack = h.nack_code},
                        Count::pdc_closed_nack, notice_after(h.nack_code), now);
  }
  res_.counters.add(Count::nacks_rx);
  res_.counters.add(nack_rx_count(h.nack_code));
  // A code that no peer can send in this state is forged, or so late that it is void. [T-08]
  if (!is_possible(h.nack_code, pdc.state(), pdc.mode)) {
    return res_.counters.add(Count::drop_nack_state);
  }
  proofs_.confirm(pdc, h);  // it names a packet that we sent
  pdc.context->ccc.on_feedback();
  idle_.touch(pdc, now);
  TxSlot* const slot = pdc.tx.find(h.nack_psn);
  if (slot == nullptr) return res_.counters.add(Count::drop_nack_answered);
  if (pdc.sdi == d.sdi && !pdc.is_unverified()) res_.peers[pdc.peer].note_heard(now);  // [PDS-256]
  if (pdc.context->is_strange(d.ev, slot->ev)) res_.counters.add(Count::strange_evs);
  react(pdc, h, *slot, d.at, now);
}

// A peer of 1.0 lost the data of our response: nack_psn is its own request. The one NACK that is
// answered. [PDS-134, PDS-072]
std::optional<AckTrigger> NackReader::read_trimmed_ack(const Pdc& pdc, const wire::Nack& h) {
  const Arrival how = pdc.rx.classify(h.nack_psn);
  if (how != Arrival::dup_window && how != Arrival::dup_below) {
    res_.counters.add(Count::drop_nack_range);
    return std::nullopt;
  }
  res_.counters.add(Count::nacks_rx);
  res_.counters.add(nack_rx_count(h.nack_code));
  AckTrigger trigger = pdc.ack.trigger();
  trigger.psn = h.nack_psn;
  trigger.ce = trigger.retx = false;
  return trigger;
}

// A peer that refuses is alive, and may refuse as long as it accepts something else now and then.
// It may wait for its application for any time, but not with return data: the reader has posted
// the memory for it. A target of which no packet is accepted has an initiator in SYN, which cannot
// take a Close Request: the target is the one that refuses. [PDS-148, PDS-162, PDS-I5]
void NackReader::note_refusal(Pdc& pdc, const wire::Nack& h, const TxSlot& slot, Instant now) {
  const bool is_early_close = slot.kind == SlotKind::close_req && !pdc.told.has_answered();
  const bool is_too_early = is_early_close && h.nack_code == NackCode::unexp_event;
  const bool is_waiting = pdc.is_initiator() ? waits_for_application(h.nack_code) : is_too_early;
  if (!is_waiting) return pdc.waiting.note_refused(now);
  pdc.waiting.forgive();
  // Said of the oldest packet it explains why nothing is answered; of a later one it does not.
  if (h.nack_psn == pdc.tx.base()) pdc.waiting.begin(now);
}

void NackReader::react(Pdc& pdc, const wire::Nack& h, TxSlot& slot, Instant at, Instant now) {
  note_refusal(pdc, h, slot, now);
  const NackReaction reaction = reaction_to(h.nack_code);
  // The peer is gone or done with the PDC: that answers a Close. [PDS-I15, PDS-I17, I19]
  const bool closing = slot.kind == SlotKind::close_cmd;
  if (closing && reaction == NackReaction::fail_pdc) {
    if (h.nack_code == NackCode::closing_in_err) res_.counters.add(Count::pdc_closed_in_err);
    const bool in_err = h.nack_code == NackCode::closing_in_err;
    return ending_.free_pdc(pdc, in_err ? PdcEvent::closed_in_err : PdcEvent::close_void,
                            in_err ? Outcome::unfinished : Outcome::clean, Remains::nothing, now);
  }
  // A Close Request or NOOP that came too early for the peer, or the question for an answer: no
  // request was refused. [PDS-162, PDS 10.2, 0x19]
  const bool is_question = slot.state.has_arrived() || slot.state.was_asked();
  if (h.nack_code == NackCode::unexp_event && (slot.kind != SlotKind::data || is_question)) {
    if (is_question && nack_limit_reached(pdc, slot, h.nack_code, at, now)) return;
    return loss_.delay_resend(pdc, h.nack_psn, slot, now);
  }
  switch (reaction) {
    case NackReaction::ignore:
      return res_.counters.add(Count::drop_nack_code);
    case NackReaction::resend_now:
      return react_to_loss(pdc, h, slot, at, now);
    case NackReaction::hold_window:
      pdc.range.on_refused();  // [PDS-245]
      [[fallthrough]];
    case NackReaction::resend_later:
    case NackReaction::send_clear:
      if (nack_limit_reached(pdc, slot, h.nack_code, at, now)) return;
      if (reaction == NackReaction::send_clear) {
        pdc.clearing.want_now();
        schedule_.want_control(pdc);
      }
      return loss_.delay_resend(pdc, h.nack_psn, slot, now);
    case NackReaction::go_back_n:
      return loss_.go_back(pdc, Psn(h.payload), now);
    case NackReaction::rebase:
      return rebase(pdc, h, now);
    case NackReaction::wait:
      if (nack_limit_reached(pdc, slot, h.nack_code, at, now)) return;
      return loss_.await_answer(pdc, h.nack_psn, slot, now);
    case NackReaction::fail_message:
      return fail_message(pdc, h, slot, now);
    case NackReaction::fail_pdc:
      return fail_by_nack(pdc, h, slot, now);
  }
}

// The message fails for good. A NOOP fills its PSN, so that no hole stays. [PDS-119, PDS-182]
void NackReader::fail_message(Pdc& pdc, const wire::Nack& h, TxSlot& slot, Instant now) {
  if (!res_.config.optional_control) {
    return loss_.delay_resend(pdc, h.nack_psn, slot, now);  // [PDS 22]
  }
  const PacketRef ref = slot.ref;
  if (slot.kind != SlotKind::data) return;
  pdc.context->unmark(pdc, slot);
  res_.cells.on_given_up(pdc, slot);
  slot.kind = SlotKind::noop;
  slot.ref = {};
  loss_.mark_lost(pdc, h.nack_psn, slot, cms::LossKind::refused, Count::retx_nack, now);
  res_.client.on_failed(ref, {.reason = FailureReason::nack, .nack = h.nack_code}, now);
}

// A packet that is known to have arrived is not lost, whatever a late NACK reports; but the two
// codes that answer an ACK Request are about just such packets. [PDS-116, PDS 13]
void NackReader::react_to_loss(Pdc& pdc, const wire::Nack& h, TxSlot& slot, Instant at,
                               Instant now) {
  const bool is_answer =
      h.nack_code == NackCode::pkt_not_rcvd || h.nack_code == NackCode::ack_with_data;
  if (slot.state.has_arrived() && !is_answer) return res_.counters.add(Count::drop_nack_answered);
  if (nack_limit_reached(pdc, slot, h.nack_code, at, now)) return;
  slot.state.unarrive();
  LossNews news{cms::LossKind::refused, h.nack_code, h.nack_psn, &slot, now};
  if (h.nack_code == NackCode::trimmed) news.kind = cms::LossKind::trimmed;
  if (h.nack_code == NackCode::trimmed_lasthop) news.kind = cms::LossKind::trimmed_lasthop;
  news.ecn = h.m;
  if (slot.is_rtt_sample(h.retx, at)) {  // a NACK has no service time [CMS-094]
    news.rtt = slot.sent_for(at);
    news.rtt_valid = true;
  }
  // A mark counts once: a trim is a stronger sign than a mark. [PDS-136] `mark_lost` reports a trim
  // before the last hop. [CMS-023, CMS-163]
  if (news.kind == cms::LossKind::trimmed_lasthop) pdc.context->ev.on_last_hop(now);
  if (news.kind != cms::LossKind::trimmed) {
    pdc.context->on_feedback(slot.ev, cms::nack_feedback(news.kind, h.m), now);
  }
  loss_.mark_lost(pdc, slot, news, Count::retx_nack);
  // A peer that drops packets out of order needs all later packets as well. [PDS-150]
  if (drops_behind_gaps(res_, pdc)) loss_.go_back(pdc, h.nack_psn, now);
}

// A refused packet was not executed, with two exceptions: an earlier transmission of it was
// executed, or the peer refused the ACK Request for it. CLOSING refuses PSNs above all that the
// peer has received, so it proves this for every transmission; with RETX it refuses one of these,
// and not the ACK Request. Other codes prove it only for a packet that was sent once. [PDS-119,
// PDS-176, PDS-190]
void NackReader::fail_by_nack(Pdc& pdc, const wire::Nack& h, TxSlot& slot, Instant now) {
  Failure failure{.reason = FailureReason::nack, .nack = h.nack_code};
  const bool is_closing = h.nack_code == NackCode::closing;
  const bool is_proof = is_closing || !slot.state.was_resent();
  const bool is_of_packet = (is_closing && h.retx) || !slot.state.was_asked();
  if (slot.kind == SlotKind::data && is_proof && is_of_packet && !slot.state.has_arrived() &&
      is_certainly_not_executed(h.nack_code)) {
    failure.not_delivered = true;
    loss_.give_up(pdc, h.nack_psn, slot, failure, now);
    // With ROD nothing behind it was executed either.
    for (Psn p = h.nack_psn + 1; pdc.mode == Mode::rod && p.before(pdc.tx.next()); ++p) {
      TxSlot* const later = pdc.tx.find(p);
      if (later != nullptr && later->kind == SlotKind::data) {
        loss_.give_up(pdc, p, *later, failure, now);
      }
    }
    failure.not_delivered = false;
  }
  const bool is_orphan = h.nack_code == NackCode::inv_dpdcid && pdc.is_initiator();
  if (is_closing || (is_orphan && pdc.state() != PdcState::syn)) {
    const bool is_question = slot.kind == SlotKind::close_req;  // it is closed
    if ((slot.kind == SlotKind::data || is_question) && !slot.state.is_answered()) {
      loss_.give_up(pdc, h.nack_psn, slot, failure, now);
    }
    const bool goes_on = is_closing ? drain(pdc, failure, now)
                                    : pdc.life.is_orphan() || await_verdicts(pdc, failure, now);
    if (goes_on && !pdc.tx.empty()) return;
  }
  ending_.fail(pdc, failure, Count::pdc_closed_nack, notice_after(h.nack_code), now);
}

// The peer is done with the PDC and remembers what it received on it: it can answer every packet
// sent before, however often it was sent. These packets go on until each is answered or refused,
// which a live peer has done within its time-out; everything else moves to another PDC. The same
// holds for the return data of a target whose Close Request came after the peer had given up its
// Close. False: there is no such packet. [PDS-119, PDS-120, PDS-176]
bool NackReader::drain(Pdc& pdc, const Failure& failure, Instant now) {
  bool any = false;
  for (Psn p = pdc.tx.base(); p.before(pdc.tx.next()) && !any; ++p) {
    const TxSlot* const slot = pdc.tx.find(p);
    any = slot != nullptr && slot->kind == SlotKind::data;
  }
  if (!any) return false;
  if (!pdc.life.is_draining()) {
    pdc.end.wait_until(now + res_.config.peer_timeout);
    schedule_.arm_by(pdc, pdc.end.at());
  }
  pdc.life.change(PdcEvent::peer_done);
  ending_.abort_message(pdc, failure, now);
  if (pdc.is_initiator()) {
    closing_.begin_close(pdc);
  } else {
    ending_.abort_returns(pdc, failure, now);
    pdc.end.drop_request();
  }
  return true;
}

// The peer does not have the PDC any more. It will also refuse packets under way that were sent
// once, which proves that they were not executed: one RTO is given to that. Nothing is sent any
// more. False: there is nothing to wait for. [PDS-119, PDS-190]
bool NackReader::await_verdicts(Pdc& pdc, const Failure& failure, Instant now) {
  bool any = false;
  for (Psn p = pdc.tx.base(); p.before(pdc.tx.next()); ++p) {
    TxSlot* const slot = pdc.tx.find(p);
    if (slot == nullptr || slot->kind != SlotKind::data) continue;
    if (slot->state.in_flight() && !slot->state.was_resent() && !slot->state.was_asked()) {
      slot->state.set_quiet(false);  // the peer cannot be asked
      any = true;
    } else {
      loss_.give_up(pdc, p, *slot, failure, now);
    }
  }
  if (!any) return false;
  pdc.life.change(PdcEvent::orphaned);
  pdc.end.wait_until(now + pdc.rtt.rto(res_.config.shortest_rto(), res_.config.rto_max, 0));
  schedule_.arm_by(pdc, pdc.end.at());
  ending_.close_idle_toward(pdc.peer, now);
  pdc.stop_sending();
  ending_.abort_message(pdc, failure, now);
  return true;
}

// Patience::retries counts refusals. With Patience::time the resends end when the peer is silent.
// [PDS-117, PDS-148]
bool NackReader::nack_limit_reached(Pdc& pdc, TxSlot& slot, NackCode code, Instant at,
                                    Instant now) {
  // Copies of one refusal spend the budget once: while the packet waits to be sent again, or, where
  // only its answer is asked for, until that can have come. [T-08]
  const bool was_just_asked = slot.state.refusals() > 0 && slot.sent_for(at) < pdc.rtt.smoothed();
  const bool is_copy = slot.state.has_arrived() ? was_just_asked : slot.state.is_to_go_again();
  if (is_copy) return false;
  slot.state.count_refusal();
  if (res_.config.patience == Patience::time || res_.config.nack_retx_max == 31) return false;
  if (slot.state.refusals() <= res_.config.nack_retx_max) return false;
  ending_.fail(pdc, {.reason = FailureReason::nack, .nack = code}, Count::pdc_closed_nack,
               pdc.state() == PdcState::syn ? Notice::none : Notice::close, now);
  return true;
}

}  // namespace uet::pds
