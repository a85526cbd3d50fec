// The turn of a PDC, and how its packets are encoded. [PDS 6, 12, 13, PDS-244]
#include "pds/tx/outbox.h"

#include "cms/events.h"
#include "pds/tx/may_send.h"

#include <algorithm>

namespace uet::pds {

namespace {
constexpr uint32_t kShortBytes = 512;  // packets below count for less of a burst:
constexpr uint32_t kShortsPerPacket = 4;
constexpr uint32_t kAckRequestsPerTurn = 16;
// With fewer octets in flight toward a peer the traffic does not count as a stream: 64 KiB with
// their headers. The ACK of a message may come behind the reply to it.
constexpr uint32_t kFewInFlight = 72 * 1024;
}  // namespace

// A Close command or Close Request: the next PSN, resent like data. False: it has not gone, and
// comes later. [PDS-172]
bool Outbox::send_closing_packet(Pdc& pdc, SlotKind kind, TxBatch& batch, Instant now) {
  if (batch.full()) {
    schedule_.want_control(pdc);
    return false;
  }
  if (!pdc.tx.reserve(res_.tx_pool)) {  // tried again then: an ACK of another PDC frees memory
    res_.counters.add(Count::slot_stalls);
    schedule_.arm_by(pdc, now + res_.config.nack_retx);
    return false;
  }
  if (pdc.tx.empty()) pdc.waiting.begin(now);
  const Psn psn = pdc.tx.next();
  TxSlot& slot = pdc.tx.push();
  slot.kind = kind;
  slot.ev = next_ev(pdc, nullptr, now);
  emit_request(pdc, psn, slot, batch, now);
  if (kind == SlotKind::close_cmd) {
    pdc.end.close_at_psn(psn);
    res_.counters.add(Count::close_cmd_tx);
  } else {
    res_.counters.add(Count::close_req_tx);
  }
  return true;
}

// False: it may not go to a source that may be forged.
bool Outbox::emit_control(Pdc& pdc, const wire::Control& h, Entropy ev, TxBatch& batch) {
  wire::Writer w(batch.begin());
  h.emit(w);
  if (!proofs_.spend(pdc, static_cast<uint32_t>(w.position()))) return false;
  batch.commit(static_cast<uint32_t>(w.position()), res_.peers[pdc.peer].address, ev,
               res_.config.control_dscp, Ecn::not_ect, 0, pdc.sdi);
  return true;
}

bool Outbox::flush_control(Pdc& pdc, TxBatch& batch, Instant now) {
  wire::Control h;
  h.isrod = pdc.mode == Mode::rod;
  h.spdcid = pdc.id;
  h.dpdcid = pdc.peer_id;
  if (pdc.clearing.is_due()) {
    if (batch.full()) return false;
    pdc.clearing.note_sent();
    const Psn clear = pdc.tx.base() - 1;
    // Also if it was sent before: that packet may have been lost, and the peer asks for it.
    if (pdc.tx.base() != pdc.start.psn() && pdc.state() != PdcState::syn) {
      h.ctl_type = wire::CtlType::clear_cmd;  // [PDS-104]
      h.payload = clear.value();
      emit_control(pdc, h, pdc.burst.ev(), batch);
      res_.counters.add(Count::clear_cmd_tx);
    }
  }
  if (pdc.asking.is_due()) {
    if (batch.full()) return false;
    pdc.asking.note_sent();
    if (pdc.is_stalled()) {
      h.ctl_type = wire::CtlType::ack_req;
      h.ar = true;
      h.psn = pdc.tx.base() - 1;
      h.payload = 0;
      emit_control(pdc, h, pdc.burst.ev(), batch);
      res_.counters.add(Count::ack_requests_tx);
      h.ar = false;
      h.psn = Psn{};
    }
  }
  if (pdc.asking.is_credit_due()) {
    if (batch.full()) return false;
    pdc.asking.note_credit_asked();
    ask_for_credit(pdc, h, batch);
  }
  if (pdc.responses.is_clear_due()) {
    if (batch.full()) return false;
    if (pdc.responses.take_clear_request(res_.config.clear_time, now) &&
        res_.config.optional_control) {
      h.ctl_type = wire::CtlType::clear_req;  // [PDS-106]
      h.payload = pdc.responses.newest().value();
      emit_control(pdc, h, pdc.burst.ev(), batch);
      pdc.responses.note_clear_request(now);
      res_.counters.add(Count::clear_req_tx);
    }
  }
  return true;
}

// A Credit Request. If TFC is in use, an ACK Request for the last packet instead: its ACK carries
// the credit again. The PSN proves our address, and a peer that has lost the PDC refuses that PSN.
// [CMS-127, CMS-147]
void Outbox::ask_for_credit(Pdc& pdc, wire::Control h, TxBatch& batch) {
  Context& context = *pdc.context;
  h.psn = pdc.tx.base() - 1;
  h.ar = context.ccc.cells() != nullptr;
  h.ctl_type = h.ar ? wire::CtlType::ack_req : wire::CtlType::credit_req;
  h.payload =
      h.ar ? 0
           : wire::CreditRequest{context.ccc_id, context.ccc.credit_target(context.need())}.pack();
  emit_control(pdc, h, pdc.burst.ev(), batch);
  res_.counters.add(h.ar ? Count::ack_requests_tx : Count::credit_request_tx);
}

// Packets that arrived without an answer, or that went without AR: asks for their answers, without
// the data. [PDS-L6, PDS-064]
bool Outbox::flush_ack_requests(Pdc& pdc, TxBatch& batch, Instant now) {
  uint32_t sent = 0;
  Psn p;
  // The rest comes first after the next time-out.
  while (sent < kAckRequestsPerTurn && pdc.tx.next_asked(p)) {
    TxSlot& slot = pdc.tx[p];
    if (batch.full()) return false;
    wire::Control h;
    h.ctl_type = wire::CtlType::ack_req;
    h.isrod = pdc.mode == Mode::rod;
    h.ar = true;
    h.spdcid = pdc.id;
    h.dpdcid = pdc.peer_id;
    h.psn = p;
    emit_control(pdc, h, slot.ev, batch);
    pdc.losses.unask(slot);
    slot.note_sent(now);
    // A packet without AR was not late, because no answer was requested.
    if (slot.state.has_arrived()) slot.state.count_timeout();
    pdc.tx.requeue(p);
    schedule_.arm_by(pdc, now + loss_.limit_of(pdc, slot));
    ++sent;
    res_.counters.add(Count::ack_requests_tx);
  }
  return true;
}

// The next message of the PDC; false: none. [PDS-015, PDS-016]
bool Outbox::next_message(Pdc& pdc, Instant now) {
  if (pdc.messages.has_current()) return true;
  if (!pdc.is_initiator()) {
    ReturnMessage* const queued = pdc.messages.start_return();
    if (queued == nullptr) return false;
    pdc.context->backlog.take(queued->bytes);
    res_.return_messages.free(queued);
    return true;
  }
  if (pdc.flow == nullptr || !pdc.flow->ready || !pdc.may_take_message()) return false;
  StartedMessage started;
  if (!res_.client.start(pdc.flow->id, pdc.handle, started, now)) {
    pdc.flow->ready = false;
    return false;
  }
  UET_ASSERT(started.message != MessageHandle{});
  pdc.messages.start(started.message, started.keep_pdc);
  if (started.is_last) pdc.flow->ready = false;
  return true;
}

// Sends as much as the deficit of the PDC allows, resends first. Blocked: the caller puts the PDC
// into the list where it waits.
Turn Outbox::take_turn(Pdc& pdc, TxBatch& batch, Instant now) {
  const uint32_t burst_bytes =
      res_.config.packets_per_entropy * pdc.context->limits.packet_bytes_max;
  const auto quantum = static_cast<int32_t>(burst_bytes);
  pdc.deficit.begin_turn(quantum);
  const bool has_lost = pdc.losses.has_lost();  // new packets then wait for the next turn
  bool has_sent = false;
  Step step = Step::sent;
  while (step == Step::sent && pdc.deficit.is_left() && !batch.full()) {
    if (is_held_by_gap(res_, pdc)) {
      step = Step::idle;
    } else if (pdc.losses.has_lost()) {
      step = send_lost(pdc, batch, now);
    } else {
      step = has_lost ? Step::idle : send_new(pdc, batch, now);
    }
    has_sent = has_sent || step == Step::sent;
    if (pdc.mode == Mode::rud && pdc.burst.is_over()) break;  // the end of a burst
  }
  if (step != Step::sent) pdc.deficit.forfeit();
  if (step == Step::blocked) res_.counters.add(Count::cms_stalls);
  // Without slot memory an ACK brings it back, like with a full window.
  if (step == Step::sent || step == Step::idle) schedule_.want_send(pdc);
  if (step != Step::sent) schedule_.arm_if_held(pdc, now);
  // While this PDC is busy with a long message, another one may take the next. [PDS-061]
  if (pdc.flow != nullptr && pdc.flow->ready && pdc.messages.has_current() &&
      pdc.flow->pdc_count < res_.config.pdcs_per_key && pdc.mode == Mode::rud) {
    schedule_.wake_flow(*pdc.flow);
  }
  return {step, has_sent};
}

Step Outbox::send_lost(Pdc& pdc, TxBatch& batch, Instant now) {
  // A profile without Probes cannot ask for proof; there the retry limit ends the resends.
  if (res_.config.probe && pdc.is_unverified() && !may_send_unproven(res_, pdc)) return Step::idle;
  const Psn psn = pdc.losses.oldest(pdc.tx);
  if (is_held_by_gap(res_, pdc)) return Step::idle;
  TxSlot& slot = pdc.tx[psn];
  // Resends are gated by CMS like new packets; the window covered them before. [PDS-147, PDS-035]
  const bool has_credit = slot.kind != SlotKind::data || slot.has_cells;  // [CMS-147, CMS-193]
  if (!pdc.context->may_send(slot.bytes, now, /*takes_no_credit=*/has_credit)) return Step::blocked;
  pdc.context->unmark(pdc, slot);
  slot.state.count_resend();
  slot.ev = next_ev(pdc, &slot, now);
  emit_request(pdc, psn, slot, batch, now);
  return Step::sent;
}

// Needs no check of the state: a PDC without message or return data has nothing new. [PDS-I2,
// PDS-I7, PDS-I11, PDS-T9]
Step Outbox::send_new(Pdc& pdc, TxBatch& batch, Instant now) {
  if (!has_new(pdc) || !window_open(res_, pdc)) return Step::idle;
  if (!pdc.context->may_send(pdc.context->limits.packet_bytes_max, now)) return Step::blocked;
  if (!next_message(pdc, now)) return Step::idle;
  if (!pdc.tx.reserve(res_.tx_pool)) {
    res_.counters.add(Count::slot_stalls);
    return Step::full;
  }
  PacketRef ref;
  if (!res_.client.pull(pdc.messages.current(), ref)) {
    pdc.messages.finish();
    if (pdc.state() == PdcState::quiesce) schedule_.want_control(pdc);
    return Step::sent;
  }
  if (pdc.is_initiator()) pdc.context->backlog.take(announced_bytes(ref));  // [CMS-018]
  // A burst that begins in the middle of a message that a peer waits for delays its end: the last
  // super-packet is longer then. [PDS-004, decision 7]
  const bool is_stream = pdc.context->ccc.inflight_bytes() > kFewInFlight;
  if (ref.som && !ref.eom && !is_stream) pdc.burst.end();
  if (pdc.tx.empty()) {
    pdc.waiting.begin(now);
    if (!pdc.context->base_rtt.idle_since.is_never()) schedule_.resume(*pdc.context, now);
  }
  const Psn psn = pdc.tx.next();
  TxSlot& slot = pdc.tx.push();
  slot.ref = ref;
  slot.ev = next_ev(pdc, nullptr, now);
  if (ref.eom) {
    pdc.messages.finish();
    if (pdc.state() == PdcState::quiesce) schedule_.want_control(pdc);
  }
  check_psn_range(pdc, psn, now);
  emit_request(pdc, psn, slot, batch, now);
  return Step::sent;
}

// The PSN space of a PDC ends; the successor takes over early enough for started messages. The PSNs
// of return data may be the first to end, where few requests ask for much. [PDS-036, PDS-I10,
// PDS-T10]
void Outbox::check_psn_range(Pdc& pdc, Psn psn, Instant now) {
  const uint32_t range = res_.config.psn_range_of(pdc.sdi);
  if (range == 0) return;
  const bool is_closing =
      pdc.is_initiator() ? pdc.life.close_asked() : pdc.state() != PdcState::established;
  if (is_closing) return;
  const uint32_t margin = 2 * std::max<uint32_t>(pdc.range.packets(), PeerRange::kUnit);
  const uint32_t used = psn.value() - pdc.start.psn().value();
  if (used + margin < range) return;
  res_.counters.add(Count::psn_range_close);
  pdc.is_initiator() ? closing_.begin_close(pdc) : closing_.ask_close(pdc, now);
}

// The EV changes between bursts; with ROD only for congestion, and as a rule when nothing is
// outstanding. [PDS-004, PDS-146, CMS-150]
Entropy Outbox::next_ev(Pdc& pdc, const TxSlot* resend, Instant now) {
  if (pdc.mode == Mode::rod) {
    const bool is_first = resend == nullptr && pdc.tx.size() <= 1;
    pdc.burst.begin(pdc.context->ordered_ev(is_first, now), 0);
    return pdc.burst.ev();
  }
  if (pdc.burst.is_over() || (resend != nullptr && resend->ev == pdc.burst.ev())) {
    Entropy ev = pdc.context->ev.next(now, res_.free_planes);
    // The selector may return the EV of the last transmission again: then the next one is used.
    if (resend != nullptr && resend->ev == ev) ev = pdc.context->ev.next(now, res_.free_planes);
    pdc.burst.begin(ev, res_.config.packets_per_entropy * kShortsPerPacket);
  }
  return pdc.burst.ev();
}

// packets_per_entropy packets leave under one EV, or four times as many short ones; with the value
// 1 each packet has its own EV.
void Outbox::use_ev(Pdc& pdc, uint32_t bytes) {
  const bool is_short = bytes < kShortBytes && res_.config.packets_per_entropy > 1;
  pdc.burst.spend(is_short ? 1 : kShortsPerPacket);
}

// Encodes the packet of a slot, the first time or again. [PDS-063, PDS-064, PDS-065, PDS-146]
void Outbox::emit_request(Pdc& pdc, Psn psn, TxSlot& slot, TxBatch& batch, Instant now) {
  const Peer& peer = res_.peers[pdc.peer];
  const bool syn = pdc.state() == PdcState::syn;
  const auto psn_offset = static_cast<uint16_t>(syn ? psn - pdc.start.psn() : 0);
  if (slot.kind != SlotKind::data) {
    wire::Control h;
    h.ctl_type = slot.kind == SlotKind::close_cmd   ? wire::CtlType::close_cmd
                 : slot.kind == SlotKind::close_req ? wire::CtlType::close_req
                                                    : wire::CtlType::noop;
    if (slot.kind == SlotKind::noop) res_.counters.add(Count::noop_tx);
    h.isrod = pdc.mode == Mode::rod;
    h.retx = slot.state.was_resent();
    h.ar = true;
    h.syn = syn;
    h.private_mark = syn && res_.config.private_mark;
    h.psn_offset = psn_offset;
    h.spdcid = pdc.id;
    h.dpdcid = pdc.peer_id;
    h.psn = psn;
    (void)emit_control(pdc, h, slot.ev, batch);  // not sent: as if it were lost
    return on_emitted(pdc, psn, slot, nominal(pdc, wire::Control::kSize), now);
  }

  wire::Request h;
  h.type = pdc.mode == Mode::rod ? wire::PdsType::rod_request : wire::PdsType::rud_request;
  h.next_hdr = slot.ref.next_hdr;
  h.retx = slot.state.was_resent();
  h.ar = choose_ar(pdc, slot);
  h.syn = syn;
  h.private_mark = syn && res_.config.private_mark;
  h.psn_offset = psn_offset;
  h.clear_psn_offset = static_cast<int16_t>((pdc.tx.base() - 1) - psn);
  h.spdcid = pdc.id;
  h.dpdcid = pdc.peer_id;
  h.psn = psn;
  if (pdc.context->ccc.has_credit()) ask_in(h, *pdc.context, slot);
  wire::Writer w(batch.begin());
  h.emit(w);
  res_.client.encode(slot.ref, w, batch);
  batch.commit(static_cast<uint32_t>(w.position()), peer.address, slot.ev,
               pdc.context->key.tc.value(), Ecn::ect0, slot.ref.message.value(), pdc.sdi);
  const TxPacket& packet = batch.packets().back();
  (void)proofs_.spend(pdc, packet.bytes());  // asked for by window_open()
  pdc.clearing.note_carried();
  res_.counters.add(Count::tx_requests);
  res_.counters.add(Count::tx_payload_bytes, packet.payload_bytes);
  on_emitted(pdc, psn, slot, nominal(pdc, packet.bytes()), now);
}

// The demand includes the packet itself, which has not left yet. [CMS-006, CMS-127]
void Outbox::ask_in(wire::Request& h, Context& context, const TxSlot& slot) {
  cms::CreditNeed need = context.need();
  if (slot.state.was_resent()) {
    need.resend_bytes += slot.bytes;
  } else {
    need.backlog_bytes += announced_bytes(slot.ref);
  }
  h.type = wire::is_rod(h.type) ? wire::PdsType::rod_cc_request : wire::PdsType::rud_cc_request;
  h.ccc_id = context.ccc_id;
  h.credit_target = context.ccc.credit_target(need);
}

// Whether the packet of a slot that leaves now has AR, and notes it. A few packets in a row of
// messages that no operation waits for go without: the next one with AR asks for all, or an ACK
// Request after quiet_time. So a ping-pong of injected messages has no ACK for each. Not while
// closing, and not in SYN, where the source waits for an ACK. [PDS-064]
bool Outbox::choose_ar(Pdc& pdc, TxSlot& slot) {
  const Context& context = *pdc.context;
  const bool stalls_next =
      !window_open(res_, pdc) || context.wants_ack(res_.config.ack_gen_trigger_bytes);
  const bool must = slot.state.was_resent() || res_.config.ack_per_packet || stalls_next;
  const bool quiet = !must && slot.ref.eom && slot.ref.quiet &&
                     pdc.state() == PdcState::established &&
                     pdc.asking.may_be_quiet(res_.config.quiet_packets);
  slot.state.set_quiet(quiet);
  const bool ar = must || (slot.ref.eom && !quiet);
  if (quiet) pdc.asking.note_quiet();
  if (ar) pdc.asking.note_asked();
  return ar;
}

void Outbox::on_emitted(Pdc& pdc, Psn psn, TxSlot& slot, uint32_t nominal, Instant now) {
  UET_ASSERT(nominal <= UINT16_MAX && !slot.state.in_flight());
  slot.bytes = static_cast<uint16_t>(nominal);
  slot.note_sent(now);
  slot.state.send();
  slot.state.was_resent() ? pdc.tx.requeue(psn) : pdc.tx.note_first_sent(psn);
  pdc.deficit.spend(nominal);
  if (pdc.mode == Mode::rud) use_ev(pdc, nominal);
  const bool is_control = slot.kind != SlotKind::data;
  pdc.context->on_sent(pdc, {nominal, slot.ev, slot.state.was_resent(), now, is_control});
  if (res_.cells.is_on()) res_.cells.on_sent(pdc, slot);
  // Only new data packets count as activity; resends to a silent peer do not.
  if (slot.kind == SlotKind::data && !slot.state.was_resent()) idle_.touch(pdc, now);
  // The first look is at half of the time-out [PDS-145], or at the end of Tail_Loss_Time. No
  // time-out is shorter, so there is usually nothing to compute.
  const Duration look = std::min(res_.config.tail_loss, res_.config.probed_rto() / 2);
  const bool is_short = !slot.state.is_quiet() && look <= res_.config.shortest_rto();
  schedule_.arm_by(pdc, now + (is_short ? look : std::min(loss_.limit_of(pdc, slot), look)));
}

}  // namespace uet::pds
