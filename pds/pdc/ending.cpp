// Failure and end of PDCs. [PDS 5, 15]
#include "pds/pdc/ending.h"

#include <algorithm>

namespace uet::pds {

namespace {
bool means_lost_peer(const Failure& failure) {
  return failure.reason == FailureReason::timeout || failure.reason == FailureReason::unreachable ||
         failure.nack == wire::NackCode::inv_dpdcid;
}
}  // namespace

// I16, I19: the peer does not answer the Close. A target that still waits for the ACK of its last
// return packets hears from the tombstone that they arrived. [PDS-176, PDS-T14]
void Ending::give_up_close(Pdc& pdc, Instant now) {
  const bool has_all = pdc.state() == PdcState::close_ack_wait;
  const PdcEvent why = PdcEvent::close_given_up;
  res_.counters.add(Count::close_given_up);
  const Psn highest = pdc.rx.max_received();
  pdc.end.break_off(highest, !pdc.rx.all_received_below(highest + 1));
  if (has_all) return free_pdc(pdc, why, Outcome::clean, Remains::tombstone, now);
  free_pdc(pdc, why, Outcome::unfinished, Remains::nothing, now);
}

// I6, I18, T17. Everything unfinished is reported once; then the PDC is freed, or first tells the
// peer: an initiator by a Close command, a target by one Close Request, whose answer it waits for
// no longer than Close_REQ_Time. What a target executed may still be resent, by a SYN even where no
// answer came through: a tombstone refuses it. [PDS-119, PDS-120, PDS-149, PDS-174, PDS-176]
void Ending::fail(Pdc& pdc, const Failure& failure, Count cause, Notice notice, Instant now) {
  end_by(pdc, PdcEvent::failed, failure, cause, notice, now);
}

// T12, T14.
void Ending::end_in_error(Pdc& pdc, PdcEvent event, Instant now) {
  const Failure failure{.reason = FailureReason::closed, .nack = wire::NackCode::closing_in_err};
  end_by(pdc, event, failure, Count::pdc_closed_in_err, Notice::none, now);
}

void Ending::end_by(Pdc& pdc, PdcEvent event, const Failure& failure, Count cause, Notice notice,
                    Instant now) {
  res_.counters.add(cause);
  const bool can_say = pdc.state() != PdcState::syn && pdc.state() != PdcState::error;
  const bool is_remembered = !pdc.is_initiator() && pdc.state() != PdcState::pending &&
                             failure.reason != FailureReason::aborted;
  pdc.life.change(event);
  if (means_lost_peer(failure)) close_idle_toward(pdc.peer, now);
  report_failures(pdc, failure, now);
  if (notice == Notice::none || !can_say) {
    pdc.end.break_off(pdc.rx.max_received(), true);
    const Remains remains = is_remembered ? Remains::tombstone : Remains::nothing;
    return free_pdc(pdc, PdcEvent::freed, Outcome::unfinished, remains, now);
  }
  if (!pdc.is_initiator()) {
    pdc.end.want_request(now + res_.config.close_req);
    schedule_.arm_by(pdc, pdc.end.at());
  }
  schedule_.want_control(pdc);  // progress_close sends it
}

// No packet of the peer has reached this PDC, so there is nothing to close.
void Ending::close(Pdc& pdc, Instant now) {
  if (pdc.is_unheard()) {
    return free_pdc(pdc, PdcEvent::freed, Outcome::clean, Remains::nothing, now);
  }
  if (pdc.is_initiator()) return closing_.begin_close(pdc);
  closing_.ask_close(pdc, now);
}

// The peer is gone or restarted, and with it the peer's end of the other PDCs. PDCs with work find
// this out themselves; an idle one would fail the next message that uses it, so idle ones close
// now. Once is enough for PDCs toward a peer that fail together. Cost: the PDCs toward that peer.
void Ending::close_idle_toward(PeerId peer, Instant now) {
  if (peer == lost_peer_ && now == lost_at_) return;
  lost_peer_ = peer;
  lost_at_ = now;
  for (Context* context = res_.peers[peer].first_context; context != nullptr;
       context = context->next_of_peer) {
    for (Flow& flow : context->flows) {
      for (Pdc& pdc : flow.pdcs) {
        const bool is_idle = pdc.tx.empty() && !pdc.messages.has_current();
        if (is_idle && pdc.state() == PdcState::established) closing_.begin_close(pdc);
      }
    }
  }
}

void Ending::report_failures(Pdc& pdc, const Failure& failure, Instant now) {
  release_.forget_outstanding(pdc);
  for (Psn p = pdc.tx.base(); p.before(pdc.tx.next()); ++p) {
    TxSlot& slot = pdc.tx[p];
    if (slot.state.is_answered() || slot.kind != SlotKind::data) continue;
    slot.state.answer();
    res_.client.on_failed(slot.ref, failure, now);
  }
  pdc.tx.abandon(res_.tx_pool);
  abort_message(pdc, failure, now);
  abort_returns(pdc, failure, now);
}

// Return data that was not begun.
void Ending::abort_returns(Pdc& pdc, const Failure& failure, Instant now) {
  while (ReturnMessage* const queued = pdc.messages.abort_return()) {
    const MessageHandle message = queued->message;
    pdc.context->backlog.take(queued->bytes);
    res_.return_messages.free(queued);
    res_.client.on_aborted(message, failure, now);
  }
}

// No more packets of the message that is being pulled.
void Ending::abort_message(Pdc& pdc, const Failure& failure, Instant now) {
  const MessageHandle message = pdc.messages.abort();
  if (message != MessageHandle{}) res_.client.on_aborted(message, failure, now);
}

void Ending::discard(Pdc& pdc) { release_.give_back(pdc, PdcEvent::freed, Instant::never()); }

void Ending::free_pdc(Pdc& pdc, PdcEvent why, Outcome outcome, Remains remains, Instant now) {
  UET_ASSERT(pdc.messages.empty());
  const PdcHandle handle = pdc.handle;
  const PeerId peer = pdc.peer;
  const bool is_clean = outcome == Outcome::clean;
  if (is_clean) res_.counters.add(Count::pdc_closed_ok);
  // A peer that missed all answers of a reclaimed PDC may ask again for as long as peers are waited
  // for.
  const Duration kept =
      pdc.life.close_received() ? res_.config.tombstone_time : res_.config.peer_timeout;
  release_.give_back(pdc, why, remains == Remains::tombstone ? now + kept : Instant::never());
  res_.client.on_pdc_closed(handle, peer, is_clean, now);
}

}  // namespace uet::pds
