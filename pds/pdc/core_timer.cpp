// Deadlines of PDCs. Each has one timer, armed no later than the earliest deadline; when it fires,
// everything is looked at and it is armed anew. [PDS-142, PDS 18 Timers]
#include "pds/core.h"

#include <algorithm>

namespace uet::pds {

void Core::advance(Instant now) {
  wheel_.expire(now, [&](TimerNode& node) { on_timer(owner_of<Pdc>(node, &Pdc::timer), now); });
  table_.expire_tombstones(now);
  connectionless_.advance(now);
}

void Core::arm_by(Pdc& pdc, Instant deadline) {
  if (!pdc.timer.is_armed() || deadline < pdc.timer.deadline()) wheel_.arm(pdc.timer, deadline);
}

// Toward a source that may be forged the time doubles without the cap. [T-38]
Duration Core::rto_of(const Pdc& pdc, const TxSlot& slot) const {
  const bool is_patient = config_.patience == Patience::time && pdc.is_unverified();
  const Duration cap = is_patient ? config_.peer_timeout : config_.rto_max;
  return pdc.rtt.rto(config_.rto_init, std::max(cap, config_.rto_max), slot.rto_count);
}

// How long an outstanding packet is left alone after it was sent.
Duration Core::limit_of(const Pdc& pdc, const TxSlot& slot) const {
  if (slot.quiet) return config_.quiet_time;
  if (!slot.delayed) return rto_of(pdc, slot);
  // NACK_Retx_Time, twice as long each time, up to the cap of the time-outs. [PDS-118]
  const uint32_t doublings = std::min<uint32_t>(slot.nack_count > 0 ? slot.nack_count - 1 : 0, 16);
  return std::min(config_.nack_retx * (int64_t{1} << doublings),
                  std::max(config_.rto_max, config_.nack_retx));
}

void Core::on_timer(Pdc& pdc, Instant now) {
  if (pdc.life.is_orphan()) {  // of what was not refused by now nobody knows [PDS-190]
    if (pdc.close_at > now) return arm_by(pdc, pdc.close_at);
    return fail(pdc, {FailureReason::nack, pdc.life.orphaned_by(), false}, Count::pdc_closed_nack,
                false, now);
  }
  if (pdc.life.is_draining() && pdc.close_at <= now) {
    return fail(pdc, {FailureReason::nack, wire::NackCode::closing, false}, Count::pdc_closed_nack,
                false, now);
  }
  Instant next = pdc.life.is_draining() ? pdc.close_at : Instant::never();
  if (!pdc.tx.empty() && !check_outstanding(pdc, next, now)) return;  // failed and gone
  check_clear(pdc, next, now);
  check_ack_delay(pdc, next, now);
  if (!check_proof(pdc, next, now)) return;  // failed
  check_owed_proof(pdc, next, now);
  if (!check_tail(pdc, next, now)) return;                        // failed
  if (pdc.is_stalled() && !probe_window(pdc, next, now)) return;  // failed

  if (pdc.rod_stalled) {
    drain_reorder(pdc, now);
    if (pdc.rod_stalled) next = std::min(next, now + config_.nack_retx);
  }
  if (pdc.life.close_received()) {
    if (finish_received_close(pdc, now)) return;
    next = std::min(next, now + config_.tombstone_time);
  }
  if (!pdc.close_at.is_never() && !pdc.life.is_draining()) {
    if (pdc.close_at <= now && pdc.state() == PdcState::pending) {  // T7: in silence [PDS-052]
      counters_.add(Count::new_pdc_timeout);
      return free_pdc(pdc, PdcEvent::expired, false, false, now);
    }
    if (pdc.close_at <= now) {
      if (close_request_expired(pdc, now)) return;  // T12: gone
      pdc.close_at = now + config_.close_req;
    }
    next = std::min(next, pdc.close_at);
  }
  if (pdc.tx.empty() && pdc.message == MessageHandle{} && pdc.returns.empty()) {
    const Duration limit = pdc.is_initiator() ? config_.idle_time : config_.idle_time * 4;
    const Instant idle_at = pdc.last_active + limit;
    if (idle_at > now) {
      next = std::min(next, idle_at);
    } else if (is_unheard(pdc)) {
      return free_pdc(pdc, PdcEvent::freed, true, false, now);
    } else if (pdc.state() == PdcState::established && pdc.keep_count == 0) {
      counters_.add(Count::idle_closes);
      if (pdc.is_initiator()) {
        begin_close(pdc);
      } else {
        ask_close(pdc, now);
      }
      next = std::min(next, now + config_.close_req);
    } else {
      next = std::min(next, now + config_.idle_time);
    }
  }
  if (next.is_never()) next = now + config_.idle_time;
  arm_by(pdc, next);
}

// Looks at every outstanding packet. False: the PDC failed and is gone or in its last state.
bool Core::check_outstanding(Pdc& pdc, Instant& next, Instant now) {
  if (close_given_up(pdc, now)) {
    give_up_close(pdc, now);
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
    fail(pdc, failure, cause, is_refused || is_ignored || !pdc.is_initiator(), now);
    return false;
  }
  if (!pdc.refused_since.is_never()) {
    next = std::min(next, pdc.refused_since + config_.refusal_patience());
  }
  Psn quiet;
  if (pdc.tx.oldest_quiet(quiet) && is_due(pdc, quiet, now)) ask_for_quiet(pdc, now);
  pdc.tx.for_each_oldest([&](uint8_t, Psn psn) { return check_slot(pdc, psn, next, now); });
  // Lost packets may wait for CMS for long: patience is looked at all the same.
  next = std::min(next, now + config_.rto_max);
  return true;
}

// Ticks are cut off: what is due within one tick is due.
bool Core::is_due(Pdc& pdc, Psn psn, Instant now) {
  const TxSlot& slot = pdc.tx[psn];
  return slot.sent_for(now) + SentTick::one() >= limit_of(pdc, slot);
}

// The oldest packet of a queue, whose time comes first. True: it was due, and waits for something
// else from here on.
bool Core::check_slot(Pdc& pdc, Psn psn, Instant& next, Instant now) {
  TxSlot& slot = pdc.tx[psn];
  if (!is_due(pdc, psn, now)) {
    next = std::min(next, now + (limit_of(pdc, slot) - slot.sent_for(now)));
    return false;
  }
  if (slot.delayed && !pdc.range.admits(psn)) {
    slot.note_sent(now);  // not before the peer can track it [PDS 10.2, 0x0B]
    pdc.tx.settle(psn);
    return true;
  }
  if (slot.delayed) {
    mark_lost(pdc, psn, slot, cms::LossKind::pressure, Count::retx_delayed, now);
    if (drops_behind_gaps(pdc)) go_back(pdc, psn, now);
    return slot.lost;
  }
  if (slot.sacked && pdc.state() != PdcState::syn) {
    slot.note_sent(now);
    ++pdc.ask_count;
    slot.ask = true;
    pdc.tx.settle(psn);
    want_control(pdc);
    next = std::min(next, now + rto_of(pdc, slot));
    return true;
  }
  // Without the peer's PDCID nobody can be asked: the data itself asks. [PDS-040]
  slot.sacked = false;
  if (slot.rto_count < UINT8_MAX) ++slot.rto_count;
  mark_lost(pdc, psn, slot, cms::LossKind::timeout, Count::retx_rto, now);
  return slot.lost;
}

// Asks for the newest packet that went without AR, which is to ask for all: the cumulative ACK of
// the answer covers them, or its SACK shows what is missing. Their time-outs begin now, because
// nobody has asked before. [PDS-064, PDS-L6]
void Core::ask_for_quiet(Pdc& pdc, Instant now) {
  TxSlot* newest = nullptr;
  Psn newest_psn;
  pdc.tx.for_each_quiet([&](Psn psn, TxSlot& slot) {
    slot.quiet = false;
    slot.note_sent(now);
    pdc.tx.settle(psn);
    newest = &slot;
    newest_psn = psn;
  });
  pdc.quiet_count = 0;
  if (newest == nullptr) return;
  UET_ASSERT(!newest->ask && !newest->lost && !newest->delayed);
  ask_for(pdc, newest_psn, *newest);
  counters_.add(Count::quiet_asked);
}

// Its answer is no sample of the round trip, and its NACK no proof. [PDS-064]
void Core::ask_for(Pdc& pdc, Psn psn, TxSlot& slot) {
  if (!slot.ask) ++pdc.ask_count;
  slot.ask = slot.was_asked = true;
  pdc.tx.settle(psn);
  want_control(pdc);
}

// A Close command is not worth more than its retry limit: everything was answered before it, and a
// target that missed it asks later. [PDS-I16, PDS-I19]
bool Core::close_given_up(Pdc& pdc, Instant now) const {
  if (!pdc.life.said_close()) return false;
  if (is_refused_for_long(pdc, now)) return true;
  const TxSlot& slot = pdc.tx[pdc.tx.base()];
  return slot.rto_count >= config_.rto_retx_max && !slot.lost &&
         slot.sent_for(now) >= rto_of(pdc, slot);
}

// [architecture 8, PDS-148]
bool Core::out_of_patience(Pdc& pdc, Failure& failure, Instant now) const {
  const Peer& peer = peers_[pdc.peer];
  const Instant silent_since = std::max(peer.last_heard, pdc.waiting_since);
  const TxSlot& oldest = pdc.tx[pdc.tx.base()];
  const Instant sent = now - oldest.sent_for(now) + SentTick::one();
  if (peer.is_unreachable(pdc.waiting_since, sent, config_.unreachable_time, now)) {
    failure = {FailureReason::unreachable, {}, false};
    return true;
  }
  if (config_.patience == Patience::time) {
    const bool is_silent = now - silent_since >= config_.peer_timeout;
    if (!is_silent && !is_refused_for_long(pdc, now) && !is_ignored_for_long(pdc, now)) {
      return false;
    }
    failure = {FailureReason::timeout, {}, false};
    return true;
  }
  const bool expired = oldest.sent_for(now) >= rto_of(pdc, oldest);
  if (oldest.rto_count < config_.rto_retx_max || oldest.lost || oldest.delayed || !expired) {
    return false;
  }
  failure = {FailureReason::timeout, {}, false};
  return true;
}

// The peer answers and nothing comes of it: no packet is acknowledged, the cumulative ACK stands
// still. It will never pass what it lacks, if a forged ACK had us drop that. [PDS-148]
bool Core::is_refused_for_long(const Pdc& pdc, Instant now) const {
  return !pdc.refused_since.is_never() && now - pdc.refused_since >= config_.refusal_patience();
}

// The peer is heard, perhaps on other PDCs, and has nothing to say of what is outstanding on this
// one, neither good nor bad: a path that works one way only, or a peer that talks and never
// acknowledges, which would hold the PDC, and what is to be returned on it, for ever. Who works on
// it says so when asked, and is waited for. [PDS-148, PDS-T17, PDS-I18]
bool Core::is_ignored_for_long(const Pdc& pdc, Instant now) const {
  return config_.patience == Patience::time && pdc.refused_since.is_never() &&
         now - pdc.waiting_since >= config_.refusal_patience() &&
         now - peers_[pdc.peer].last_heard < config_.peer_timeout;
}

// Nothing is outstanding that could bring an ACK, and without one there is no next packet: clears
// what can be cleared and asks for the cumulative ACK, until it is heard. False: the PDC failed.
// [PDS-035, PDS-104]
bool Core::probe_window(Pdc& pdc, Instant& next, Instant now) {
  next = std::min(next, now + config_.rto_max);
  if (!has_new(pdc)) return true;
  const Instant silent_since = std::max(peers_[pdc.peer].last_heard, pdc.last_active);
  if (pdc.refused_since.is_never()) pdc.refused_since = now;
  const bool is_silent = now - silent_since >= config_.peer_timeout;
  if (is_silent || is_refused_for_long(pdc, now)) {
    fail(pdc, {FailureReason::timeout, {}, false},
         is_silent ? Count::pdc_closed_timeout : Count::pdc_closed_refused, !is_silent, now);
    return false;
  }
  next = std::min(next, pdc.refused_since + config_.refusal_patience());
  pdc.clear_due = pdc.is_initiator();
  pdc.probe_due = true;
  want_control(pdc);
  return true;
}

// [PDS-083]
void Core::check_ack_delay(Pdc& pdc, Instant& next, Instant now) {
  if (config_.ack_delay_max == Duration::zero() || !pdc.ack.is_behind()) return;
  const Duration age = SentTick::age(pdc.ack.behind_since_tick(), now);
  if (age < config_.ack_delay_max) {
    next = std::min(next, now + (config_.ack_delay_max - age));
    return;
  }
  pdc.ack.want(Count::ack_delay, pdc.ack.trigger());
  want_control(pdc);
}

// The clear that no request has carried. [PDS-105]
void Core::check_clear(Pdc& pdc, Instant& next, Instant now) {
  if (pdc.clear_at.is_never()) return;
  if (!pdc.clear_wanted) {
    pdc.clear_at = Instant::never();
    return;
  }
  if (pdc.clear_at > now) {
    next = std::min(next, pdc.clear_at);
    return;
  }
  const bool stuck = !pdc.range.admits(pdc.tx.next());
  // What the peer has, though unanswered, does not go again.
  const bool resends = pdc.tx.size() > pdc.tx.arrived();
  if (resends && !stuck) {
    // A request of this PDC is under way or will be resent; it or the next one carries the clear.
    pdc.clear_at = now + config_.clear_time;
    next = std::min(next, pdc.clear_at);
    return;
  }
  pdc.clear_at = Instant::never();
  pdc.clear_wanted = false;
  pdc.clear_due = true;
  want_control(pdc);
}

}  // namespace uet::pds
