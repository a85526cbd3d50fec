// Close commands and Close Requests, sent and received. [PDS 5, 15]
#include "pds/pdc/close_steps.h"

namespace uet::pds {

// The steps that need nothing but room in the batch. False: the PDC is gone.
bool CloseSteps::progress_close(Pdc& pdc, TxBatch& batch, Instant now) {
  if (pdc.life.is_draining() && !pdc.is_initiator()) {  // the peer has closed it; all is answered
    if (!pdc.tx.empty()) return true;
    ending_.free_pdc(pdc, PdcEvent::freed, Outcome::clean, Remains::nothing, now);
    return false;
  }
  if (pdc.state() == PdcState::quiesce && !pdc.messages.has_current() && !pdc.messages.is_kept()) {
    pdc.life.change(PdcEvent::messages_sent);  // I12
    loss_.ask_for_quiet(pdc, now);             // the close waits for every answer
  }
  const std::optional<SlotKind> kind = due_packet(pdc);
  if (!kind || !outbox_.send_closing_packet(pdc, *kind, batch, now)) return true;
  if (*kind == SlotKind::close_req) pdc.end.drop_request();
  if (pdc.state() == PdcState::ack_wait) pdc.life.change(PdcEvent::all_answered);  // I13
  return true;
}

// I13, I18, T10, T17.
std::optional<SlotKind> CloseSteps::due_packet(const Pdc& pdc) {
  if (!pdc.is_initiator()) {
    if (pdc.life.wants_close() && pdc.end.is_request_due()) return SlotKind::close_req;
    return std::nullopt;
  }
  const bool closes = pdc.state() == PdcState::ack_wait ||
                      (pdc.state() == PdcState::error && !pdc.life.is_orphan());
  if (closes && pdc.tx.empty()) return SlotKind::close_cmd;
  return std::nullopt;
}

// I14, I19. It says where the next PDC may begin. [PDS-053]
void CloseSteps::on_close_answered(Pdc& pdc, const wire::Ack& ack, Instant now) {
  secure_psn_.learn_start(pdc, ack);
  const bool is_clean = pdc.state() == PdcState::close_ack_wait;
  ending_.free_pdc(pdc, PdcEvent::close_acked, is_clean ? Outcome::clean : Outcome::unfinished,
                   Remains::nothing, now);
}

// Target: a Close command that finds the last return packets unacknowledged. Most likely the peer
// has them and only its ACK was lost, which the peer cannot know. So the peer is asked for its ACK,
// and until it answers, the Close is treated as lost: it is not acknowledged, so it comes again.
// With Patience::retries row T14 applies without this exception. [PDS-T14, PDS-I13, decision 4]
bool CloseSteps::is_close_early(Pdc& pdc, const Inbound& in, Instant now) {
  if (res_.config.patience == Patience::retries || pdc.is_initiator()) return false;
  if (!in.is_control || in.ctl_type != wire::CtlType::close_cmd) return false;
  if (!pdc.rx.all_received_below(in.psn()) || !pdc.order.empty()) return false;
  if (!pdc.messages.empty()) return false;  // it cannot have all
  Psn psn;
  TxSlot* const newest = newest_unanswered(pdc, &psn);
  if (newest == nullptr) return false;
  res_.counters.add(Count::close_early);
  pdc.waiting.note_refused(now);  // limits the wait [PDS-148]
  // Asks once only: if the peer does not answer, the data itself must go again, and each question
  // would restart its time-out.
  const bool goes_again = newest->state.is_to_go_again();
  if (!goes_again && !newest->state.was_asked()) loss_.ask_for(pdc, psn, *newest);
  return true;
}

// The newest data packet without an answer; null if there is none.
TxSlot* CloseSteps::newest_unanswered(Pdc& pdc, Psn* psn) {
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
bool CloseSteps::finish_received_close(Pdc& pdc, Instant now) {
  if (!pdc.rx.all_received_below(pdc.end.psn()) || !pdc.order.empty()) return false;
  const bool owes = !pdc.messages.empty() || newest_unanswered(pdc) != nullptr;
  // No tombstone is free. Without one a late copy of a packet could execute again, so the Close
  // waits until a tombstone expires. [PDS-176]
  if (!table_.may_bury()) {
    res_.counters.add(Count::close_waits);
    schedule_.arm_by(pdc, now + res_.config.tombstone_time);
    return false;
  }
  AckTrigger trigger = pdc.ack.trigger();
  trigger.psn = pdc.end.psn();
  if (owes) {
    replies_.nack(pdc, wire::NackCode::closing_in_err, trigger, now);
    ending_.end_in_error(pdc, PdcEvent::close_too_early, now);
    return true;
  }
  wire::Ack h;
  h.m = trigger.ce;
  h.retx = trigger.retx;
  h.spdcid = pdc.id;
  h.dpdcid = pdc.peer_id;
  h.cack_psn = pdc.end.psn();
  if (pdc.sdi != 0) {
    h.epsn = res_.config.expected_psn_in_close_ack;
    h.expected_start_psn = secure_psn_.raise_floor(pdc);
  }
  replies_.queue_ack(h, res_.peers[pdc.peer].address, trigger.ev, pdc.sdi);
  const bool is_clean = pdc.state() != PdcState::error;
  ending_.free_pdc(pdc, PdcEvent::close_command, is_clean ? Outcome::clean : Outcome::unfinished,
                   Remains::tombstone, now);
  return true;
}

// T12. By patience of time a PDC is not taken from a peer that is only slow. True: gone.
bool CloseSteps::close_request_expired(Pdc& pdc, Instant now) {
  const bool owes = pdc.responses.awaited() > 0 || !pdc.messages.empty();
  if (owes && pdc.state() != PdcState::error) return false;  // we are the one it waits for
  const bool is_patient = res_.config.patience == Patience::time && pdc.state() != PdcState::error;
  const Duration limit = is_patient ? res_.config.peer_timeout : res_.config.close_req;
  if (now - pdc.last_active < limit && pdc.state() != PdcState::error) return false;
  res_.counters.add(Count::close_req_expired);
  AckTrigger trigger = pdc.ack.trigger();
  trigger.psn = pdc.rx.max_received() + 1;
  replies_.nack(pdc, wire::NackCode::closing_in_err, trigger, now);
  ending_.end_in_error(pdc, PdcEvent::expired, now);
  return true;
}

}  // namespace uet::pds
