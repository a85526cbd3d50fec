// What the PDC does at each expired deadline. [PDS 12, 15]
#include "pds/pdc/deadlines.h"

#include "pds/tx/may_send.h"

#include <algorithm>

namespace uet::pds {
void Deadlines::on_timer(Pdc& pdc, Instant now) {
  if (pdc.life.is_orphan()) {  // packets that were not refused by now have an unknown fate
                               // [PDS-190]
    if (pdc.end.at() > now) return schedule_.arm_by(pdc, pdc.end.at());
    return ending_.fail(pdc, {.reason = FailureReason::nack, .nack = wire::NackCode::inv_dpdcid},
                        Count::pdc_closed_nack, Notice::none, now);
  }
  if (pdc.life.is_draining() && pdc.end.at() <= now) {
    return ending_.fail(pdc, {.reason = FailureReason::nack, .nack = wire::NackCode::closing},
                        Count::pdc_closed_nack, Notice::none, now);
  }
  Instant next = pdc.life.is_draining() ? pdc.end.at() : Instant::never();
  if (!pdc.tx.empty() && !check_outstanding(pdc, next, now)) return;  // failed and gone
  check_clear(pdc, next, now);
  check_stored(pdc, next, now);
  check_ack_delay(pdc, next, now);
  if (!proofs_.check_proof(pdc, next, now)) {
    return ending_.fail(pdc, {.reason = FailureReason::timeout}, Count::pdc_closed_timeout,
                        Notice::none, now);
  }
  proofs_.check_owed_proof(pdc, next, now);
  if (!probes_.check_tail(pdc, next, now)) {
    return ending_.fail(pdc, {.reason = FailureReason::timeout}, Count::pdc_closed_timeout,
                        pdc.is_initiator() ? Notice::none : Notice::close, now);
  }
  if (pdc.is_stalled() && !probe_window(pdc, next, now)) return;  // failed

  if (pdc.order.is_stalled()) {
    inbox_.drain_reorder(pdc, now);
    if (pdc.order.is_stalled()) next = std::min(next, now + res_.config.nack_retx);
  }
  if (pdc.life.close_received()) {
    if (steps_.finish_received_close(pdc, now)) return;
    next = std::min(next, now + res_.config.tombstone_time);
  }
  if (CloseSteps::due_packet(pdc)) {  // it found no memory
    schedule_.want_control(pdc);
    next = std::min(next, now + res_.config.nack_retx);
  }
  if (!check_close(pdc, next, now) || !check_idle(pdc, next, now)) return;  // gone
  if (next.is_never()) next = now + res_.config.idle_time;
  schedule_.arm_by(pdc, next);
}

// T7, T12. False: the PDC is gone.
bool Deadlines::check_close(Pdc& pdc, Instant& next, Instant now) {
  if (!pdc.end.is_awaited() || pdc.life.is_draining()) return true;
  if (pdc.end.at() <= now && pdc.state() == PdcState::pending) {  // T7: no packet [PDS-052]
    res_.counters.add(Count::new_pdc_timeout);
    ending_.free_pdc(pdc, PdcEvent::expired, Outcome::unfinished, Remains::nothing, now);
    return false;
  }
  if (pdc.end.at() <= now) {
    if (steps_.close_request_expired(pdc, now)) return false;  // T12: gone
    pdc.end.wait_until(now + res_.config.close_req);
  }
  next = std::min(next, pdc.end.at());
  return true;
}

// Closes an idle initiator, or asks the peer of an idle target to close; targets wait four times as
// long. False: the PDC is gone. [PDS 15.1]
bool Deadlines::check_idle(Pdc& pdc, Instant& next, Instant now) {
  if (!pdc.tx.empty() || !pdc.messages.empty()) return true;
  const Duration limit = pdc.is_initiator() ? res_.config.idle_time : res_.config.idle_time * 4;
  const Instant idle_at = pdc.last_active + limit;
  if (idle_at > now) {
    next = std::min(next, idle_at);
  } else if (pdc.is_unheard()) {
    ending_.free_pdc(pdc, PdcEvent::freed, Outcome::clean, Remains::nothing, now);
    return false;
  } else if (pdc.state() == PdcState::established && !pdc.messages.is_kept()) {
    res_.counters.add(Count::idle_closes);
    if (pdc.is_initiator()) {
      closing_.begin_close(pdc);
    } else {
      closing_.ask_close(pdc, now);
    }
    next = std::min(next, now + res_.config.close_req);
  } else {
    next = std::min(next, now + res_.config.idle_time);
  }
  return true;
}

// Looks at every outstanding packet. False: the PDC failed and is gone or in its last state.
bool Deadlines::check_outstanding(Pdc& pdc, Instant& next, Instant now) {
  if (close_given_up(pdc, now)) {
    ending_.give_up_close(pdc, now);
    return false;
  }
  Failure failure;
  if (out_of_patience(pdc, failure, now)) {
    const bool is_refused = is_refused_for_long(pdc, now);
    const bool is_ignored = is_ignored_for_long(pdc, now);
    const Count cause = failure.reason == FailureReason::unreachable ? Count::pdc_closed_unreachable
                        : is_refused                                 ? Count::pdc_closed_refused
                        : is_ignored                                 ? Count::pdc_closed_ignored
                                                                     : Count::pdc_closed_timeout;
    const bool may_hold = is_refused || is_ignored || !pdc.is_initiator();
    ending_.fail(pdc, failure, cause, may_hold ? Notice::close : Notice::none, now);
    return false;
  }
  if (pdc.waiting.is_refused()) {  // by count of refusals, patience outlasts this time
    const Instant end = pdc.waiting.refused_since() + res_.config.refusal_patience();
    if (end > now) next = std::min(next, end);
  }
  Psn quiet;
  if (pdc.tx.oldest_quiet(quiet) && is_due(pdc, quiet, now)) loss_.ask_for_quiet(pdc, now);
  if (pdc.losses.has_asked()) schedule_.want_control(pdc);  // ACK Requests left over
  pdc.tx.for_each_oldest([&](uint8_t, Psn psn) { return check_slot(pdc, psn, next, now); });
  // Lost packets may wait long for CMS, so the give-up limits are checked here as well.
  next = std::min(next, now + res_.config.rto_max);
  return true;
}

// Deadlines have a resolution of one tick: a packet within one tick is due.
bool Deadlines::is_due(Pdc& pdc, Psn psn, Instant now) {
  const TxSlot& slot = pdc.tx[psn];
  return slot.sent_for(now) + SentTick::one() >= loss_.limit_of(pdc, slot);
}

// Handles the oldest packet of a queue, whose deadline is the earliest. True: the packet was due
// and moved to another queue.
bool Deadlines::check_slot(Pdc& pdc, Psn psn, Instant& next, Instant now) {
  TxSlot& slot = pdc.tx[psn];
  if (!is_due(pdc, psn, now)) {
    const Duration limit = loss_.limit_of(pdc, slot), age = slot.sent_for(now);
    const bool is_early = slot.state.in_flight() && age + SentTick::one() < limit / 2;
    next = std::min(next, now + ((is_early ? limit / 2 : limit) - age));
    if (slot.state.in_flight() && !is_early) {
      probes_.ask_before_timeout(pdc, limit / 2, next, now);
    }
    return false;
  }
  if (slot.state.is_refused()) return loss_.end_delay(pdc, psn, slot, now);
  if (slot.state.has_arrived() && pdc.state() != PdcState::syn) {
    slot.note_sent(now);
    pdc.losses.ask(slot);
    pdc.tx.requeue(psn);
    schedule_.want_control(pdc);
    next = std::min(next, now + loss_.rto_of(pdc, slot));
    return true;
  }
  // Without the peer's PDCID no ACK Request can go: the data is sent again instead. [PDS-040]
  slot.state.unarrive();
  slot.state.count_timeout();
  loss_.mark_lost(pdc, psn, slot, cms::LossKind::timeout, Count::retx_rto, now);
  return slot.state.is_lost();
}

// A Close command is given up after its retry limit: everything was answered before it, and a
// target that missed it asks later. [PDS-I16, PDS-I19]
bool Deadlines::close_given_up(Pdc& pdc, Instant now) const {
  if (!pdc.life.said_close()) return false;
  if (is_refused_for_long(pdc, now)) return true;
  const TxSlot& slot = pdc.tx[pdc.tx.base()];
  return slot.state.timeouts() >= res_.config.rto_retx_max && !slot.state.is_lost() &&
         slot.sent_for(now) >= loss_.rto_of(pdc, slot);
}

// [decision 4, PDS-148]
bool Deadlines::out_of_patience(Pdc& pdc, Failure& failure, Instant now) const {
  const Peer& peer = res_.peers[pdc.peer];
  const Instant silent_since = std::max(peer.last_heard, pdc.waiting.since());
  const TxSlot& oldest = pdc.tx[pdc.tx.base()];
  const Instant sent = now - oldest.sent_for(now) + SentTick::one();
  if (peer.is_unreachable(pdc.waiting.since(), sent, res_.config.unreachable_time, now)) {
    failure = {.reason = FailureReason::unreachable};
    return true;
  }
  if (res_.config.patience == Patience::time) {
    const bool is_silent = now - silent_since >= res_.config.peer_timeout;
    if (!is_silent && !is_refused_for_long(pdc, now) && !is_ignored_for_long(pdc, now)) {
      return false;
    }
    failure = {.reason = FailureReason::timeout};
    return true;
  }
  const bool expired = oldest.sent_for(now) >= loss_.rto_of(pdc, oldest);
  if (oldest.state.timeouts() < res_.config.rto_retx_max || oldest.state.is_to_go_again() ||
      !expired) {
    return false;
  }
  failure = {.reason = FailureReason::timeout};
  return true;
}

// The peer answers, but acknowledges no packet, and its cumulative ACK stands still. That never
// ends if a forged ACK made us drop a packet that the peer still needs. [PDS-148]
bool Deadlines::is_refused_for_long(const Pdc& pdc, Instant now) const {
  return pdc.waiting.is_refused_for(res_.config.refusal_patience(), now);
}

// The peer is alive, perhaps on other PDCs, but neither acknowledges nor refuses what is
// outstanding on this one: the path works one way only, or the peer never acknowledges. Without a
// limit the PDC and its stored responses would never be freed. A peer that still works on a request
// says so when asked, and gets more time. [PDS-148, PDS-T17, PDS-I18]
bool Deadlines::is_ignored_for_long(const Pdc& pdc, Instant now) const {
  return res_.config.patience == Patience::time && !pdc.waiting.is_refused() &&
         now - pdc.waiting.since() >= res_.config.refusal_patience() &&
         now - res_.peers[pdc.peer].last_heard < res_.config.peer_timeout;
}

// Nothing is in flight that could bring an ACK, and without one no packet may go: clears what can
// be cleared and asks for the cumulative ACK, until it is heard. False: the PDC failed. [PDS-035,
// PDS-104, PDS-245]
bool Deadlines::probe_window(Pdc& pdc, Instant& next, Instant now) {
  next = std::min(next, now + res_.config.rto_max);
  if (!is_held_by_range(pdc)) return true;
  const Instant silent_since = std::max(res_.peers[pdc.peer].last_heard, pdc.last_active);
  pdc.waiting.note_refused(now);
  const bool is_silent = now - silent_since >= res_.config.peer_timeout;
  if (is_silent || is_refused_for_long(pdc, now)) {
    ending_.fail(pdc, {.reason = FailureReason::timeout},
                 is_silent ? Count::pdc_closed_timeout : Count::pdc_closed_refused,
                 is_silent ? Notice::none : Notice::close, now);
    return false;
  }
  next = std::min(next, pdc.waiting.refused_since() + res_.config.refusal_patience());
  pdc.clearing.make_due(pdc.is_initiator());
  pdc.asking.want_cumulative();
  schedule_.want_control(pdc);
  return true;
}

// [PDS-083]
void Deadlines::check_ack_delay(Pdc& pdc, Instant& next, Instant now) {
  if (res_.config.ack_delay_max == Duration::zero() || !pdc.ack.is_behind()) return;
  const Duration age = SentTick::age(pdc.ack.behind_since_tick(), now);
  if (age < res_.config.ack_delay_max) {
    next = std::min(next, now + (res_.config.ack_delay_max - age));
    return;
  }
  pdc.ack.want(Count::ack_delay, pdc.ack.trigger());
  schedule_.want_control(pdc);
}

// Stored responses hold places which other PDCs need, and nothing repeats a Clear that was lost.
// [PDS-104, PDS-106]
void Deadlines::check_stored(Pdc& pdc, Instant& next, Instant now) {
  if (pdc.responses.stored() == 0) return;
  Duration left = res_.config.rto_max - pdc.responses.uncleared_for(now);
  if (left <= Duration::zero()) {
    pdc.responses.want_clear();
    schedule_.want_control(pdc);
    left = res_.config.rto_max;
  }
  next = std::min(next, now + left);
}

// The clear that no request has carried. [PDS-105]
void Deadlines::check_clear(Pdc& pdc, Instant& next, Instant now) {
  if (pdc.clearing.at().is_never()) return;
  if (!pdc.clearing.is_wanted()) {
    pdc.clearing.drop_deadline();
    return;
  }
  if (pdc.clearing.at() > now) {
    next = std::min(next, pdc.clearing.at());
    return;
  }
  const bool stuck = !pdc.range.admits(pdc.tx.next());
  // A packet that the peer has is not sent again, even if unanswered.
  const bool resends = pdc.tx.size() > pdc.tx.arrived();
  if (resends && !stuck) {
    // A request of this PDC is under way or will be resent; it or the next one carries the clear.
    pdc.clearing.put_off(now + res_.config.clear_time);
    next = std::min(next, pdc.clearing.at());
    return;
  }
  pdc.clearing.end_wait();
  schedule_.want_control(pdc);
}

}  // namespace uet::pds
