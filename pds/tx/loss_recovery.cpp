// What happens to outstanding packets. [PDS 12]
#include "pds/tx/loss_recovery.h"

#include "pds/tx/may_send.h"

#include <algorithm>

namespace uet::pds {

// Toward a source that may be forged the time doubles without the cap [T-38]. Where the peer
// answers Probes, they find a loss before: a time-out is for what they do not find, and may wait
// until a queue that has just grown shows in a round trip. [PDS-140]
Duration LossRecovery::rto_of(const Pdc& pdc, uint32_t timeouts) const {
  const bool is_patient = res_.config.patience == Patience::time && pdc.is_unverified();
  const Duration cap = is_patient ? res_.config.peer_timeout : res_.config.rto_max;
  const Duration least =
      may_probe(res_, pdc) ? res_.config.probed_rto() : res_.config.shortest_rto();
  return pdc.rtt.rto(least, std::max(cap, res_.config.rto_max), timeouts);
}

// How long an outstanding packet is left alone after it was sent.
Duration LossRecovery::limit_of(const Pdc& pdc, const TxSlot& slot) const {
  if (slot.state.is_quiet()) return res_.config.quiet_time;
  if (!slot.state.is_refused()) return rto_of(pdc, slot);
  // NACK_Retx_Time, twice as long each time, up to the cap of the time-outs. [PDS-118]
  const uint32_t doublings =
      std::min<uint32_t>(slot.state.refusals() > 0 ? slot.state.refusals() - 1 : 0, 16);
  return std::min(res_.config.nack_retx * (int64_t{1} << doublings),
                  std::max(res_.config.rto_max, res_.config.nack_retx));
}

// Asks for the newest packet that went without AR, which asks for all: the cumulative ACK of the
// answer covers them, or its SACK shows the missing ones. Their time-outs begin now, because no
// answer was requested before. [PDS-064, PDS-L6]
void LossRecovery::ask_for_quiet(Pdc& pdc, Instant now) {
  TxSlot* newest = nullptr;
  Psn newest_psn;
  pdc.tx.for_each_quiet([&](Psn psn, TxSlot& slot) {
    slot.state.set_quiet(false);
    slot.note_sent(now);
    pdc.tx.requeue(psn);
    newest = &slot;
    newest_psn = psn;
  });
  pdc.asking.note_asked();
  if (newest == nullptr) return;
  UET_ASSERT(!newest->state.is_ask_due() && !newest->state.is_to_go_again());
  ask_for(pdc, newest_psn, *newest);
  res_.counters.add(Count::quiet_asked);
}

// The answer gives no RTT sample, and a NACK does not prove that the peer lives. [PDS-064]
void LossRecovery::ask_for(Pdc& pdc, Psn psn, TxSlot& slot) {
  pdc.losses.ask(slot);
  slot.state.note_asked();
  pdc.tx.requeue(psn);
  schedule_.want_control(pdc);
}

void LossRecovery::forget(Pdc& pdc, TxSlot& slot) {
  if (!slot.state.land()) return;
  pdc.context->on_forgotten(pdc, slot.bytes);
  schedule_.wake_context(*pdc.context);
}

// The packet gets no answer any more, but the PDC continues for a while.
void LossRecovery::give_up(Pdc& pdc, Psn psn, TxSlot& slot, const Failure& failure, Instant now) {
  const PacketRef ref = slot.ref;
  const SlotKind kind = slot.kind;
  forget(pdc, slot);
  pdc.context->clear_marks(pdc, slot);
  pdc.tx.complete(psn);
  if (kind == SlotKind::data) res_.client.on_failed(ref, failure, now);
}

// It arrived; the answer is asked for when the delay is over, without the data. [PDS-093]
void LossRecovery::await_answer(Pdc& pdc, Psn psn, TxSlot& slot, Instant now) {
  slot.state.arrive();
  res_.cells.on_arrived(pdc, slot);
  pdc.context->unmark(pdc, slot);
  forget(pdc, slot);  // like after a SACK: it must not keep the hole below it from being sent again
  slot.note_sent(now);
  pdc.tx.requeue(psn);
  schedule_.arm_by(pdc, now + rto_of(pdc, slot));
}

// [PDS-118]
void LossRecovery::delay_resend(Pdc& pdc, Psn psn, TxSlot& slot, Instant now) {
  if (slot.state.land()) {
    pdc.context->on_lost(pdc, {cms::LossKind::refused, {}, psn, &slot, now});
    schedule_.wake_context(*pdc.context);
  }
  res_.cells.on_lost(pdc, slot);
  pdc.context->unmark(pdc, slot);
  slot.state.refuse();
  if (!gap_waits(res_, pdc) || psn.before(pdc.losses.gap())) pdc.losses.open_gap(psn);
  slot.note_sent(now);
  pdc.tx.requeue(psn);
  schedule_.arm_by(pdc, now + limit_of(pdc, slot));
  schedule_.want_send(pdc);
}

bool LossRecovery::end_delay(Pdc& pdc, Psn psn, TxSlot& slot, Instant now) {
  if (!pdc.range.admits(psn)) {
    pdc.tx.set_aside(psn);
    return true;
  }
  mark_lost(pdc, psn, slot, cms::LossKind::refused, Count::retx_delayed, now);
  if (drops_behind_gaps(res_, pdc)) go_back(pdc, psn, now);
  return slot.state.is_lost();
}

void LossRecovery::resend_tracked(Pdc& pdc, Instant now) {
  pdc.tx.for_each_aside([&](Psn psn, TxSlot& slot) {
    return pdc.range.admits(psn) && end_delay(pdc, psn, slot, now);
  });
}

// Resends everything from the gap on, except packets that the peer keeps; it does not keep the
// packet that it waits for, even if a SACK named it. Packets behind a delayed one go when the delay
// ends. [PDS-078, PDS-150]
void LossRecovery::go_back(Pdc& pdc, Psn expected, Instant now) {
  const Psn from = pdc.tx.contains(expected) ? expected : pdc.tx.base();
  const Psn end = gap_waits(res_, pdc) ? pdc.losses.gap() : pdc.tx.next();
  for (Psn p = from; p.before(end); ++p) {
    TxSlot* const slot = pdc.tx.find(p);
    if (slot == nullptr || slot->state.is_lost()) continue;
    const bool is_taken_back = p == expected && slot->state.has_arrived();
    if (is_taken_back) slot->state.unarrive();
    if (slot->state.has_arrived()) continue;
    const bool goes = is_taken_back || slot->state.in_flight() ||
                      (slot->state.is_refused() && drops_behind_gaps(res_, pdc));
    if (!goes) continue;
    mark_lost(pdc, p, *slot, cms::LossKind::inferred, Count::retx_go_back_n, now);
  }
}

// The slot is sent again as soon as CMS allows. [PDS-240]
void LossRecovery::mark_lost(Pdc& pdc, Psn psn, TxSlot& slot, cms::LossKind kind, Count cause,
                             Instant now) {
  mark_lost(pdc, slot, {kind, {}, psn, &slot, now}, cause);
}

void LossRecovery::mark_lost(Pdc& pdc, TxSlot& slot, const LossNews& news, Count cause) {
  UET_ASSERT(!slot.state.is_answered());
  if (slot.state.is_lost() || pdc.life.is_orphan()) return;
  res_.counters.add(cause);
  bool is_paid = false;
  if (slot.state.land()) {
    is_paid = pdc.context->on_lost(pdc, news);
    schedule_.wake_context(*pdc.context);
  }
  res_.cells.on_lost(pdc, slot);
  pdc.losses.unask(slot);
  slot.state.end_wait();
  const bool is_refundable = is_paid && news.kind == cms::LossKind::inferred;
  pdc.context->mark(pdc, slot, news.psn, is_refundable ? LossSign::refundable : LossSign::reported);
  pdc.tx.requeue(news.psn);
  pdc.stop_sending();  // it may stand among those with new packets only
  schedule_.want_send(pdc);
}

// All packets that wait because of a time-out are in flight again, with new time-outs. The times of
// their first transmissions are lost, so they give no sample of the round trip. [PDS-254]
void LossRecovery::take_back_timeouts(Pdc& pdc, Instant now) {
  res_.counters.add(Count::early_timeouts);
  pdc.context->ccc.on_early_timeouts();
  if (!pdc.losses.has_lost() || pdc.life.is_orphan()) return;
  for (Psn p = pdc.losses.oldest(pdc.tx); p.before(pdc.tx.next()); ++p) {
    TxSlot& slot = pdc.tx[p];
    if (!slot.state.is_lost() || !slot.is_early_timeout(false)) continue;
    pdc.context->unmark(pdc, slot);
    pdc.context->on_still_in_flight(pdc, slot, now);
    res_.cells.on_arrived(pdc, slot);
    slot.state.send();
    slot.state.note_asked();
    slot.note_sent(now);
    pdc.tx.requeue(p);
  }
  schedule_.arm_by(pdc, now + res_.config.shortest_rto());
}

}  // namespace uet::pds
