// The end of PDCs: orderly close from either side, failure, reclaim under pressure. [PDS 5, 15]
#include "pds/core.h"

#include <algorithm>

namespace uet::pds {

namespace {
constexpr uint32_t kVictimsLookedAt = 16;
constexpr uint32_t kVictimsPerOpen = 2;
constexpr uint8_t kTrafficClasses = 64;  // DSCPs

bool tells_of_lost_peer(const Failure& failure) {
  return failure.reason == FailureReason::timeout || failure.reason == FailureReason::unreachable ||
         failure.nack == wire::NackCode::inv_dpdcid;
}
}  // namespace

// Who has been idle longest is asked in seconds: within about a millisecond the list keeps its
// order, and a packet touches none of its neighbours.
void Core::touch(Pdc& pdc, Instant now) {
  constexpr int kGrainShift = 20;
  const bool is_recent = now.ns() >> kGrainShift == pdc.last_active.ns() >> kGrainShift;
  pdc.last_active = now;
  if (is_recent) return;
  auto& lru = lru_[pdc.is_initiator()];
  lru.erase(pdc);
  lru.push_back(pdc);
}

// --- orderly close ---

// Initiator. New messages go elsewhere from here on. [PDS-I10, PDS-I21, PDS-I22]
void Core::begin_close(Pdc& pdc) {
  UET_ASSERT(pdc.is_initiator());
  pdc.life.note_close_asked();
  if (pdc.flow->ready) wake_flow(*pdc.flow);
  if (pdc.state() != PdcState::established) return;
  pdc.life.change(PdcEvent::close_wanted);
  want_control(pdc);
}

// Target: only asks. [PDS-170, PDS-T10]
void Core::ask_close(Pdc& pdc, Instant now) {
  UET_ASSERT(!pdc.is_initiator());
  if (pdc.state() != PdcState::established) return;
  pdc.life.change(PdcEvent::close_wanted);
  pdc.close_req_due = true;
  pdc.close_at = now + config_.close_req;
  arm_by(pdc, pdc.close_at);
  want_control(pdc);
}

// The steps that need nothing but room in the batch. False: the PDC is gone.
bool Core::progress_close(Pdc& pdc, TxBatch& batch, Instant now) {
  if (pdc.life.is_draining() && !pdc.is_initiator()) {  // the peer has closed it; all is answered
    if (!pdc.tx.empty()) return true;
    free_pdc(pdc, PdcEvent::freed, true, false, now);
    return false;
  }
  if (pdc.state() == PdcState::quiesce && pdc.message == MessageHandle{} && pdc.keep_count == 0) {
    pdc.life.change(PdcEvent::messages_sent);  // I12
    ask_for_quiet(pdc, now);                   // the close waits for every answer
  }
  if (pdc.state() == PdcState::ack_wait && pdc.tx.empty()) {
    if (send_closing_packet(pdc, SlotKind::close_cmd, batch, now)) {
      pdc.life.change(PdcEvent::all_answered);  // I13
    }
  } else if (pdc.state() == PdcState::error && pdc.is_initiator() && pdc.tx.empty() &&
             !pdc.life.is_orphan()) {
    send_closing_packet(pdc, SlotKind::close_cmd, batch, now);  // I18
  } else if (pdc.life.wants_close() && pdc.close_req_due) {
    if (send_closing_packet(pdc, SlotKind::close_req, batch, now)) {
      pdc.close_req_due = false;
      pdc.close_req_sent = true;
    }
  }
  return true;
}

// A Close command or Close Request: the next PSN, resent like data. [PDS-172]
bool Core::send_closing_packet(Pdc& pdc, SlotKind kind, TxBatch& batch, Instant now) {
  if (batch.full() || !pdc.tx.reserve(tx_pool_)) {
    want_control(pdc);
    return false;
  }
  if (pdc.tx.empty()) begin_wait(pdc, now);
  const Psn psn = pdc.tx.next();
  TxSlot& slot = pdc.tx.push();
  slot.kind = kind;
  slot.ev = next_ev(pdc, nullptr);
  emit_request(pdc, psn, slot, batch, now);
  if (kind == SlotKind::close_cmd) {
    pdc.close_psn = psn;
    counters_.add(Count::close_cmd_tx);
  } else {
    counters_.add(Count::close_req_tx);
  }
  return true;
}

// I14, I19: the Close command is answered. Frees the PDC.
void Core::on_closing_slot_done(Pdc& pdc, SlotKind kind, Instant now) {
  if (kind != SlotKind::close_cmd) return;
  const bool clean = pdc.state() == PdcState::close_ack_wait;
  free_pdc(pdc, PdcEvent::close_acked, clean, false, now);
}

// I16, I19: nobody answers the Close. A target that still waits for the ACK of its last return
// packets hears from the tombstone that they came. [PDS-176, PDS-T14]
void Core::give_up_close(Pdc& pdc, Instant now) {
  const bool has_all = pdc.state() == PdcState::close_ack_wait;
  counters_.add(Count::close_given_up);
  pdc.close_psn = pdc.rx.max_received();
  pdc.is_doubtful = !pdc.rx.all_received_below(pdc.close_psn + 1);
  free_pdc(pdc, PdcEvent::close_given_up, has_all, has_all, now);
}

// Target: a Close command that finds the last return packets unacknowledged. Most likely the peer
// has them and only its ACK was lost, which it cannot know: it is asked, and the Close is as good
// as lost until it has answered. Nothing acknowledges it meanwhile, so it comes again. Patience by
// count takes row T14 by the letter. [PDS-T14, PDS-I13, architecture 18]
bool Core::is_close_early(Pdc& pdc, const Inbound& in, Instant now) {
  if (config_.patience == Patience::retries || pdc.is_initiator()) return false;
  if (!in.is_control || in.ctl_type != wire::CtlType::close_cmd) return false;
  if (!pdc.rx.all_received_below(in.psn()) || !pdc.reorder.empty()) return false;
  if (!pdc.returns.empty() || pdc.message != MessageHandle{}) return false;  // it cannot have all
  Psn psn;
  TxSlot* const newest = newest_unanswered(pdc, &psn);
  if (newest == nullptr) return false;
  counters_.add(Count::close_early);
  if (pdc.refused_since.is_never()) pdc.refused_since = now;  // not for ever [PDS-148]
  // Once only: where nobody answers the question its data must go again, and each question begins
  // the time-out for that anew.
  const bool goes_again = newest->lost || newest->delayed;
  if (!goes_again && !newest->was_asked) ask_for(pdc, psn, *newest);
  return true;
}

// The newest data packet that has no answer yet; null: there is none.
TxSlot* Core::newest_unanswered(Pdc& pdc, Psn* psn) {
  for (Psn p = pdc.tx.next() - 1; !p.before(pdc.tx.base()); p = p - 1) {
    TxSlot* const slot = pdc.tx.find(p);
    if (slot == nullptr || slot->kind != SlotKind::data) continue;
    if (psn != nullptr) *psn = p;
    return slot;
  }
  return nullptr;
}

// Target: acts on a Close command when all lower PSNs are there. True: the PDC is gone.
// [PDS-T13, PDS-T14, PDS-T15, PDS-177]
bool Core::finish_received_close(Pdc& pdc, Instant now) {
  if (!pdc.rx.all_received_below(pdc.close_psn) || !pdc.reorder.empty()) return false;
  const bool owes =
      !pdc.returns.empty() || pdc.message != MessageHandle{} || newest_unanswered(pdc) != nullptr;
  // No tombstone is free. Without one a late copy of a packet could execute again, so the Close
  // waits until a tombstone expires. [PDS-176]
  if (!table_.may_bury()) {
    counters_.add(Count::close_waits);
    arm_by(pdc, now + config_.tombstone_time);
    return false;
  }
  AckTrigger trigger = pdc.ack.trigger();
  trigger.psn = pdc.close_psn;
  if (owes) {
    nack(pdc, wire::NackCode::closing_in_err, trigger, now);
    end_in_error(pdc, PdcEvent::close_too_early, now);
    return true;
  }
  wire::Ack h;
  h.m = trigger.ce;
  h.retx = trigger.retx;
  h.spdcid = pdc.id;
  h.dpdcid = pdc.peer_id;
  h.cack_psn = pdc.close_psn;
  if (pdc.sdi != 0) {
    h.epsn = config_.expected_psn_in_close_ack;
    h.expected_start_psn = raise_floor(pdc);
  }
  queue_ack(h, peers_[pdc.peer].address, trigger.ev, pdc.sdi);
  free_pdc(pdc, PdcEvent::close_command, pdc.state() != PdcState::error, true, now);
  return true;
}

// T12. By patience of time a PDC is not taken from a peer that is only slow. True: gone.
bool Core::close_request_expired(Pdc& pdc, Instant now) {
  const bool owes = pdc.later_count > 0 || !pdc.returns.empty() || pdc.message != MessageHandle{};
  if (owes && pdc.state() != PdcState::error) return false;  // we are the one it waits for
  const bool is_patient = config_.patience == Patience::time && pdc.state() != PdcState::error;
  const Duration limit = is_patient ? config_.peer_timeout : config_.close_req;
  if (now - pdc.last_active < limit && pdc.state() != PdcState::error) return false;
  counters_.add(Count::close_req_expired);
  AckTrigger trigger = pdc.ack.trigger();
  trigger.psn = pdc.rx.max_received() + 1;
  nack(pdc, wire::NackCode::closing_in_err, trigger, now);
  end_in_error(pdc, PdcEvent::expired, now);
  return true;
}

// --- failure ---

// I6, I18, T17. Everything unfinished is reported once; then the PDC goes, or says first that it
// wants to: an initiator by a Close command, a target by one Close Request, whose answer it waits
// for no longer than Close_REQ_Time. What a target executed may still be resent, by a SYN even
// where no answer came through: a tombstone refuses it. [PDS-119, PDS-120, PDS-149, PDS-174,
// PDS-176]
void Core::fail(Pdc& pdc, const Failure& failure, Count cause, bool peer_may_hold, Instant now) {
  end_by(pdc, PdcEvent::failed, failure, cause, peer_may_hold, now);
}

// T12, T14.
void Core::end_in_error(Pdc& pdc, PdcEvent event, Instant now) {
  const Failure failure{FailureReason::closed, wire::NackCode::closing_in_err, false};
  end_by(pdc, event, failure, Count::pdc_closed_in_err, false, now);
}

void Core::end_by(Pdc& pdc, PdcEvent event, const Failure& failure, Count cause, bool peer_may_hold,
                  Instant now) {
  counters_.add(cause);
  const bool can_say = pdc.state() != PdcState::syn && pdc.state() != PdcState::error;
  const bool is_remembered = !pdc.is_initiator() && pdc.state() != PdcState::pending &&
                             failure.reason != FailureReason::aborted;
  pdc.life.change(event);
  if (tells_of_lost_peer(failure)) close_idle_toward(pdc.peer, now);
  report_failures(pdc, failure, now);
  if (!peer_may_hold || !can_say) {
    pdc.close_psn = pdc.rx.max_received();
    pdc.is_doubtful = true;
    return free_pdc(pdc, PdcEvent::freed, false, is_remembered, now);
  }
  if (!pdc.is_initiator()) {
    pdc.close_req_due = true;
    pdc.close_at = now + config_.close_req;
    arm_by(pdc, pdc.close_at);
  }
  want_control(pdc);  // progress_close sends it
}

// The peer is gone or started anew, and its side of the other PDCs with it. Those with work find
// out by themselves; an idle one would fail the next message that takes it. Once is enough for
// those toward a peer that fail together. Cost: the PDCs toward that peer, and a look-up for each
// class.
void Core::close_idle_toward(PeerId peer, Instant now) {
  if (peer == lost_peer_ && now == lost_at_) return;
  lost_peer_ = peer;
  lost_at_ = now;
  for (uint8_t tc = 0; tc < kTrafficClasses; ++tc) {
    Path* const* const path = path_by_key_.find({peer, TrafficClass(tc)});
    if (path == nullptr) continue;
    for (Flow& flow : (*path)->flows) {
      for (Pdc& pdc : flow.pdcs) {
        const bool is_idle = pdc.tx.empty() && pdc.message == MessageHandle{};
        if (is_idle && pdc.state() == PdcState::established) begin_close(pdc);
      }
    }
  }
}

void Core::report_failures(Pdc& pdc, const Failure& failure, Instant now) {
  forget_outstanding(pdc);
  for (Psn p = pdc.tx.base(); p.before(pdc.tx.next()); ++p) {
    TxSlot& slot = pdc.tx[p];
    if (slot.done || slot.kind != SlotKind::data) continue;
    slot.done = true;
    client_.on_failed(slot.ref, failure, now);
  }
  pdc.tx.abandon(tx_pool_);
  abort_message(pdc, failure, now);
  abort_returns(pdc, failure, now);
}

// Return data that was not begun.
void Core::abort_returns(Pdc& pdc, const Failure& failure, Instant now) {
  while (ReturnMessage* const queued = pdc.returns.pop_front()) {
    const MessageHandle message = queued->message;
    return_messages_.free(queued);
    client_.on_aborted(message, failure, now);
  }
}

// No more packets of the message that is being pulled.
void Core::abort_message(Pdc& pdc, const Failure& failure, Instant now) {
  const MessageHandle message = pdc.message;
  pdc.message = MessageHandle{};
  if (message != MessageHandle{}) client_.on_aborted(message, failure, now);
}

// CMS hears no verdict on them. [PDS-240]
void Core::forget_outstanding(Pdc& pdc) {
  bool freed = false;
  for (Psn p = pdc.tx.base(); p.before(pdc.tx.next()); ++p) {
    TxSlot& slot = pdc.tx[p];
    if (slot.in_flight) {
      pdc.path->ccc.on_forgotten(slot.bytes);
      freed = true;
    }
    slot.in_flight = slot.lost = slot.ask = slot.delayed = slot.quiet = false;
  }
  pdc.lost_count = pdc.ask_count = 0;
  ListNode<SendTag>& node = pdc;
  node.unlink();
  if (freed) wake_path(*pdc.path);
}

// --- the end ---

// What the PDC holds goes back; the PDC itself as well.
void Core::release(Pdc& pdc, PdcEvent why, Instant bury_until) {
  forget_outstanding(pdc);
  while (StoredResponse* const e = pdc.stored.front()) free_stored(pdc, *e);
  while (ReorderedPacket* const p = pdc.reorder.front()) free_reordered(pdc, *p);
  if (!pdc.is_initiator()) {
    if (!pdc.confirmed) {
      --half_open_;
      peers_.count_half_open(pdc.peer, -1);
    }
    if (!pdc.is_reserved) {
      peers_.count_target(pdc.peer, -1);
      shares_.give_back(pdc.sdi, pdc.job);
    }
  }
  if (!pdc.is_initiator() && pdc.sdi != 0 && pdc.state() != PdcState::pending) raise_floor(pdc);
  pdc.tx.abandon(tx_pool_);
  pdc.rx.release(rx_pool_);
  wheel_.cancel(pdc.timer);
  const PeerId peer = pdc.peer;
  Path& path = *pdc.path;
  if (Flow* const flow = pdc.flow) {
    flow->pdcs.erase(pdc);
    --flow->pdc_count;
    if (flow->ready) wake_flow(*flow);
    if (flow->pdcs.empty()) flows_.note_idle(*flow);
  }
  if (pdc.state() != PdcState::closed) pdc.life.change(why);
  if (bury_until.is_never()) {
    table_.free(pdc);
  } else {
    table_.bury(pdc, bury_until);
  }
  drop_path(path);
  peers_.drop_ref(peer);
  ready_.splice_back(starved_);
}

void Core::discard(Pdc& pdc) { release(pdc, PdcEvent::freed, Instant::never()); }

// Its message was taken back before the first packet left: there is nobody to close it with.
bool Core::is_unheard(const Pdc& pdc) {
  return pdc.is_initiator() && pdc.state() == PdcState::syn && pdc.tx.next() == pdc.start_psn &&
         pdc.message == MessageHandle{} && pdc.keep_count == 0;
}

void Core::free_pdc(Pdc& pdc, PdcEvent why, bool clean, bool tombstone, Instant now) {
  UET_ASSERT(pdc.message == MessageHandle{} && pdc.returns.empty());
  const PdcHandle handle = pdc.handle;
  const PeerId peer = pdc.peer;
  if (clean) counters_.add(Count::pdc_closed_ok);
  // Who missed all answers of a reclaimed PDC may ask again for as long as peers are waited for.
  const Duration kept = pdc.life.close_received() ? config_.tombstone_time : config_.peer_timeout;
  release(pdc, why, tombstone ? now + kept : Instant::never());
  client_.on_pdc_closed(handle, peer, clean, now);
}

// [T-01]
bool Core::half_open_full() const {
  if (config_.half_open_percent == 100) return false;
  return uint64_t{half_open_} * 100 >= uint64_t{config_.max_pdcs} * config_.half_open_percent;
}

// Few free PDCs: the longest idle ones go. [PDS-181]
void Core::relieve_pressure(bool is_initiator, Instant now) {
  const uint32_t free = table_.free_count(is_initiator);
  // Idle PDCs are closed before only the newcomers' share is free, so that hosts that hold a PDC
  // can open more. [PDS-253]
  const uint32_t percent =
      config_.low_water_percent + (is_initiator ? 0 : config_.newcomer_percent);
  const bool is_low = uint64_t{free} * 100 < uint64_t{config_.max_pdcs} * percent;
  if (free > 0 && !is_low && (is_initiator || !half_open_full())) return;
  // Where most are half-open it is those that are too many: they go when their time has come, and
  // nobody else gives way to them. [T-01]
  const bool is_flooded = !is_initiator && uint64_t{half_open_} * 2 > table_.size();
  const bool may_close = (free == 0 || is_low) && !is_flooded;
  retire(
      is_initiator, may_close, [](const Pdc&) { return true; }, now);
}

// Whether a peer may open one more PDC: it, its host (all peers with its IP address), the job and
// the domain of its request must be within their shares. A host that holds a PDC also leaves some
// places to hosts that hold none, so that many hosts at their limits cannot keep a newcomer out.
// When a share is used up, idle PDCs of that peer, host, job or domain are closed. [T-01, T-02,
// T-61, PDS-253]
bool Core::has_share(PeerId peer, uint32_t sdi, JobId job, Instant now) {
  const uint32_t all_free = table_.free_count(false);
  if (all_free == 0) return true;  // for nobody, which is another answer
  const uint32_t percent = config_.job_share_percent;
  const Peer& p = peers_[peer];
  const Host& host = peers_.host_of(p);
  const uint32_t left = host.targets == 0 ? 0 : config_.newcomer_pdcs();
  const uint32_t free = all_free - std::min(left, all_free);
  const bool is_peer = !Shares::has_room(p.targets, free, config_.peer_share_percent);
  const bool is_host = !Shares::has_room(host.targets, free, config_.host_share_percent());
  if (is_peer || is_host || free == 0) {
    counters_.add(is_peer ? Count::peer_share_limit : Count::host_share_limit);
    const uint32_t half_open = is_peer ? p.half_open : host.half_open;
    const bool is_flooded = uint64_t{half_open} * 2 > (is_peer ? p.targets : host.targets);
    const auto is_candidate = [&](const Pdc& pdc) {
      return is_peer ? pdc.peer == peer : peers_[pdc.peer].host == p.host;
    };
    retire(false, !is_flooded, is_candidate, now);
    return false;
  }
  const bool is_job = !Shares::has_room(shares_.held({sdi, job.value()}), all_free, percent);
  const bool is_domain = sdi != 0 && !Shares::has_room(shares_.held({sdi}), all_free, percent);
  if (!is_job && !is_domain) return true;
  counters_.add(Count::job_share_limit);
  const bool is_flooded = uint64_t{half_open_} * 2 > table_.size();
  const auto is_candidate = [&](const Pdc& pdc) {
    return pdc.sdi == sdi && (is_domain || pdc.job == job);
  };
  retire(false, !is_flooded, is_candidate, now);
  return false;
}

// The longest idle ones go, of those it is about: half-open ones when their time has come, others
// by an orderly close where that may be. [PDS-181]
template <class IsCandidate>
void Core::retire(bool is_initiator, bool may_close, IsCandidate&& is_candidate, Instant now) {
  uint32_t looked_at = 0;
  uint32_t victims = 0;
  for (Pdc& pdc : lru_[is_initiator]) {
    if (++looked_at > kVictimsLookedAt || victims == kVictimsPerOpen) return;
    if (!is_candidate(pdc)) continue;
    const bool busy = !pdc.tx.empty() || pdc.message != MessageHandle{} || !pdc.returns.empty() ||
                      pdc.keep_count > 0 || pdc.later_count > 0;
    if (busy) continue;
    if (is_unheard(pdc)) {
      free_pdc(pdc, PdcEvent::freed, true, false, now);
      ++victims;
    } else if (!is_initiator && !pdc.confirmed) {
      if (reclaim(pdc, now)) ++victims;
    } else if (pdc.state() == PdcState::established && may_close) {
      counters_.add(Count::pressure_closes);
      if (is_initiator) {
        begin_close(pdc);
      } else {
        ask_close(pdc, now);
      }
      ++victims;
    }
  }
}

// Nobody ever used the PDCID that we answered with: most likely a forged source. Were it not, the
// tombstone answers it again. A message half received would fail at its receiver, and a response
// or a gap is more than a tombstone can tell: these are given longer. [PDS-176, PDS-181]
bool Core::reclaim(Pdc& pdc, Instant now) {
  const Psn highest = pdc.rx.max_received();
  pdc.is_doubtful = pdc.stored_count > 0 || !pdc.rx.all_received_below(highest + 1);
  const bool is_open = pdc.is_doubtful || client_.has_open_message(pdc.handle);
  if (now - pdc.last_active < (is_open ? config_.peer_timeout / 4 : config_.close_req)) {
    return false;
  }
  if (!table_.may_bury()) return false;
  pdc.close_psn = highest;
  counters_.add(Count::pdc_reclaimed);
  free_pdc(pdc, PdcEvent::freed, false, true, now);
  return true;
}

void Core::close_all(bool abort, Instant now) {
  if (abort) {
    connectionless_.abort(now);
    flows_.for_each([&](Flow& flow) {  // what is half sent without a PDC ends, too
      const MessageHandle message = flow.message;
      flow.message = MessageHandle{};
      if (message == MessageHandle{}) return;
      client_.on_aborted(message, {FailureReason::aborted, {}, false}, now);
    });
  }
  table_.for_each([&](Pdc& pdc) {
    if (abort) {
      fail(pdc, {FailureReason::aborted, {}, false}, Count::pdc_closed_aborted, false, now);
    } else if (is_unheard(pdc)) {
      free_pdc(pdc, PdcEvent::freed, true, false, now);
    } else if (pdc.is_initiator()) {
      begin_close(pdc);
    } else {
      ask_close(pdc, now);
    }
  });
}

}  // namespace uet::pds
