// Requests out: giving messages to PDCs, deficit round robin over the PDCs, resends before new
// packets. [PDS 6, 12, PDS-061, PDS-062, PDS-244]
#include "pds/core.h"

#include "base/prefetch.h"

#include <algorithm>

namespace uet::pds {

namespace {
constexpr uint32_t kPsnOffsetMax = 4095;  // [PDS-038]
constexpr uint32_t kShortBytes = 512;     // packets below count for less of a burst:
constexpr uint32_t kShortsPerPacket = 4;

// A burst is better whole in the next batch than cut: the backend sends it as one. Long bursts are
// of short packets, which many PDCs may have few of; those fill the batch. One burst with much
// payload is enough: it is on its way while the next one is made.
bool has_room_for_burst(const TxBatch& batch, uint32_t burst_packets) {
  constexpr uint32_t kBulkBytes = 64 * 1024;
  if (batch.payload_bytes() >= kBulkBytes) return false;
  if (batch.empty() || burst_packets > TxBatch::kCapacity / 4) return !batch.full();
  return !batch.full() && batch.size() + burst_packets <= TxBatch::kCapacity;
}
}  // namespace

uint32_t Core::transmit(TxBatch& batch, Instant now) {
  const uint32_t before = batch.size();
  if (flows_.has_released()) retire_flows(now);
  send_replies(batch);
  send_probe_answers(batch, now);
  send_responses(batch, now);
  send_answers(batch, now);
  send_control(batch, now);
  connectionless_.transmit(batch, now);
  // A PDC that is not done goes to the back of its list, so none waits for ever.
  while (!batch.full()) {
    Pdc* const pdc = resend_.pop_front();
    if (pdc == nullptr) break;
    serve(*pdc, batch, now);
  }
  while (!batch.full()) {
    Path* const path = open_paths_.pop_front();
    if (path == nullptr) break;
    serve_path(*path, batch, now);
  }
  // A flow that wants a PDC for each PDC that sends: it is served while its state is in the cache.
  while (has_room_for_burst(batch, config_.packets_per_entropy) &&
         !(ready_.empty() && send_.empty())) {
    assign_next(now);
    Pdc* const pdc = send_.pop_front();
    if (pdc == nullptr) continue;
    prefetch(send_.front(), sizeof(Pdc));
    serve(*pdc, batch, now);
  }
  return batch.size() - before;
}

// --- which PDC carries the next message [PDS-060, PDS-061] ---

void Core::wake_flow(Flow& flow) {
  if (!flow.is_queued()) ready_.push_back(flow);
}

void Core::assign_next(Instant now) {
  Flow* const flow = ready_.pop_front();
  if (flow == nullptr) return;
  if (const Flow* const next = ready_.front()) prefetch(next->pdcs.front(), sizeof(Pdc));
  if (flow->ready) assign(*flow, now);
}

// Puts a PDC of the flow to work: one without an unsent rest, else a further one. Otherwise the
// PDCs at work take the next message themselves when they have sent theirs.
void Core::assign(Flow& flow, Instant now) {
  uint32_t usable = 0;
  for (Pdc& pdc : flow.pdcs) {
    if (!pdc.may_take_message()) continue;
    ++usable;
    if (pdc.message == MessageHandle{} && window_open(pdc)) return want_send(pdc);
    // Nothing was waiting when it stalled, so nobody has asked for the cumulative ACK yet.
    if (pdc.is_stalled() && pdc.refused_since.is_never()) arm_by(pdc, now);
  }
  const uint32_t limit = flow.key.mode == Mode::rod ? 1 : config_.pdcs_per_key;
  // A ROD flow waits until the PDC before has gone altogether. [PDS-003, PDS-020]
  const uint32_t open = flow.key.mode == Mode::rod ? flow.pdc_count : usable;
  if (open >= limit) return;
  Pdc* const pdc = open_initiator(flow, now);
  if (pdc == nullptr) {
    if (usable == 0) starved_.push_back(flow);  // [PDS-021]
    return;
  }
  if (!next_message(*pdc, now)) return discard(*pdc);  // nothing to send after all
  counters_.add(Count::pdc_opened_initiator);
  relieve_pressure(true, now);
  want_send(*pdc);
}

// I1. [PDS-040, PDS-044]
Pdc* Core::open_initiator(Flow& flow, Instant now) {
  Pdc* const pdc = table_.allocate(true, random_);
  if (pdc == nullptr) {
    counters_.add(Count::pdc_alloc_fail);
    relieve_pressure(true, now);
    return nullptr;
  }
  pdc->life.change(PdcEvent::opened);
  pdc->mode = flow.key.mode;
  pdc->peer = flow.key.peer;
  pdc->flow = &flow;
  pdc->path = flow.path;
  ++pdc->path->refs;
  pdc->sdi = flow.key.sdi;
  const Psn start = pdc->start_psn = initial_start(pdc->peer, pdc->sdi, pdc->start_psn);
  pdc->tx.start(start);
  pdc->rx.start(start, config_.tracked_packets());
  pdc->sweep.start(start);
  pdc->rx_next = start;
  pdc->highest_arrived = pdc->cleared = start - 1;
  pdc->range.start(start, config_.default_mpr);
  pdc->last_active = now;
  peers_.add_ref(pdc->peer);
  flow.pdcs.push_back(*pdc);
  ++flow.pdc_count;
  lru_[1].push_back(*pdc);
  arm_by(*pdc, now + config_.idle_time);
  return pdc;
}

// The message that the PDC goes on with; false: none. [PDS-015, PDS-016]
bool Core::next_message(Pdc& pdc, Instant now) {
  if (pdc.message != MessageHandle{}) return true;
  if (!pdc.is_initiator()) {
    ReturnMessage* const queued = pdc.returns.pop_front();
    if (queued == nullptr) return false;
    pdc.message = queued->message;
    return_messages_.free(queued);
    return true;
  }
  if (pdc.flow == nullptr || !pdc.flow->ready || !pdc.may_take_message()) return false;
  StartedMessage started;
  if (!client_.start(pdc.flow->id, pdc.handle, started, now)) {
    pdc.flow->ready = false;
    return false;
  }
  UET_ASSERT(started.message != MessageHandle{});
  pdc.message = started.message;
  if (started.keep_pdc) ++pdc.keep_count;
  if (started.is_last) pdc.flow->ready = false;
  return true;
}

// --- sending ---

// Puts the PDC where it gets a turn, if it has anything to send and is not waiting already.
void Core::want_send(Pdc& pdc) {
  const ListNode<SendTag>& node = pdc;
  if (node.is_linked() || is_held_by_gap(pdc)) return;
  if (pdc.is_unverified() && !may_send_unproven(pdc)) return;  // on_inbound(), confirm() retry
  const bool has_new = this->has_new(pdc);
  if (pdc.lost_count > 0) {
    resend_.push_back(pdc);
  } else if (has_new && window_open(pdc)) {
    send_.push_back(pdc);
  } else if (has_new) {
    counters_.add(Count::window_stalls);  // an ACK brings it back, see probe_window()
  }
}

// The peer would drop whatever is behind the packet that it refused for now. [PDS-150]
bool Core::gap_waits(Pdc& pdc) const {
  if (!drops_behind_gaps(pdc)) return false;
  const TxSlot* const slot = pdc.tx.find(pdc.gap);
  return slot != nullptr && slot->delayed;
}

// There is nothing to send before it either, as far as is known: see send_lost().
bool Core::is_held_by_gap(Pdc& pdc) const {
  return gap_waits(pdc) && (pdc.lost_count == 0 || !pdc.lost_from.before(pdc.gap));
}

bool Core::has_new(const Pdc& pdc) const {
  return pdc.message != MessageHandle{} || !pdc.returns.empty() ||
         (pdc.flow != nullptr && pdc.flow->ready && pdc.may_take_message());
}

// CMS may have room again. O(1), however many PDCs wait. [PDS-244]
void Core::wake_path(Path& path) {
  const bool is_wanted = !path.blocked.empty() || !path.sated.empty();
  if (is_wanted && !path.is_linked()) open_paths_.push_back(path);
}

// Room for one more PSN. Of the data that a SYN asks for nothing goes that would be much more than
// the SYN, until its source has shown that it hears us: else small forged requests fill somebody
// else's link. [PDS-035, PDS-037, PDS-038, T-38]
bool Core::window_open(Pdc& pdc) const {
  const Psn next = pdc.tx.next();
  if (pdc.is_unverified() && !may_send_unproven(pdc)) return false;
  if (pdc.tx.size() >= config_.tx_window_packets || !pdc.range.admits(next)) return false;
  return pdc.state() != PdcState::syn ||
         next - pdc.start_psn <= static_cast<int32_t>(kPsnOffsetMax);
}

// Nobody overtakes a PDC of the path that waits for the window: resends of requests could otherwise
// keep return data from ever going out, and two peers that read from each other refuse requests
// until it does. [PDS-244]
void Core::serve(Pdc& pdc, TxBatch& batch, Instant now) {
  Path& path = *pdc.path;
  if (!path.blocked.empty()) {
    counters_.add(Count::cms_stalls);
    return path.blocked.push_back(pdc);
  }
  const Turn turn = take_turn(pdc, batch, now);
  if (turn.end == Step::blocked) (turn.has_sent ? path.sated : path.blocked).push_back(pdc);
}

// The PDC that has waited longest for the window of its path. While there is room the path stays
// among the open ones.
void Core::serve_path(Path& path, TxBatch& batch, Instant now) {
  if (path.blocked.empty()) path.blocked.splice_back(path.sated);
  Pdc* const pdc = path.blocked.pop_front();
  if (pdc == nullptr) return;
  const Turn turn = take_turn(*pdc, batch, now);
  if (turn.end != Step::blocked) return wake_path(path);
  if (turn.has_sent) {
    path.sated.push_back(*pdc);
  } else {
    path.blocked.push_front(*pdc);  // it keeps its turn
  }
}

// What the deficit of the PDC admits, resends first. Blocked: the caller puts it where it waits.
Turn Core::take_turn(Pdc& pdc, TxBatch& batch, Instant now) {
  const uint32_t burst_bytes = config_.packets_per_entropy * pdc.path->packet_bytes_max;
  const auto quantum = static_cast<int32_t>(burst_bytes);
  pdc.deficit = std::min(pdc.deficit + quantum, quantum);
  const bool has_lost = pdc.lost_count > 0;  // new packets then wait for the next turn
  bool has_sent = false;
  Step step = Step::sent;
  while (step == Step::sent && pdc.deficit > 0 && !batch.full()) {
    if (is_held_by_gap(pdc)) {
      step = Step::idle;
    } else if (pdc.lost_count > 0) {
      step = send_lost(pdc, batch, now);
    } else {
      step = has_lost ? Step::idle : send_new(pdc, batch, now);
    }
    has_sent = has_sent || step == Step::sent;
    if (pdc.mode == Mode::rud && pdc.ev_left == 0) break;  // the end of a burst
  }
  if (step != Step::sent) pdc.deficit = 0;
  if (step == Step::blocked) counters_.add(Count::cms_stalls);
  // Without slot memory an ACK brings it back, like with a full window.
  if (step == Step::sent || step == Step::idle) want_send(pdc);
  if (step != Step::sent) arm_if_held(pdc, now);
  // While this PDC is busy with a long message, another one may take the next. [PDS-061]
  if (pdc.flow != nullptr && pdc.flow->ready && pdc.message != MessageHandle{} &&
      pdc.flow->pdc_count < config_.pdcs_per_key && pdc.mode == Mode::rud) {
    wake_flow(*pdc.flow);
  }
  return {step, has_sent};
}

Step Core::send_lost(Pdc& pdc, TxBatch& batch, Instant now) {
  // A profile without Probes cannot ask for proof; there the retry limit ends the resends.
  if (config_.probe && pdc.is_unverified() && !may_send_unproven(pdc)) return Step::idle;
  Psn psn = pdc.lost_from;
  if (psn.before(pdc.tx.base())) psn = pdc.tx.base();
  while (psn.before(pdc.tx.next()) && !pdc.tx[psn].lost) ++psn;
  UET_ASSERT(psn.before(pdc.tx.next()));
  pdc.lost_from = psn;
  if (is_held_by_gap(pdc)) return Step::idle;
  TxSlot& slot = pdc.tx[psn];
  // Resends are gated by CMS like new packets; the window covered them before. [PDS-147, PDS-035]
  if (!pdc.path->ccc.may_send(slot.bytes)) return Step::blocked;
  slot.lost = false;
  --pdc.lost_count;
  if (slot.resends < 2) ++slot.resends;
  slot.ev = next_ev(pdc, &slot);
  emit_request(pdc, psn, slot, batch, now);
  return Step::sent;
}

Step Core::send_new(Pdc& pdc, TxBatch& batch, Instant now) {
  if (!has_new(pdc) || !window_open(pdc)) return Step::idle;
  if (!pdc.path->ccc.may_send(pdc.path->packet_bytes_max)) return Step::blocked;
  if (!next_message(pdc, now)) return Step::idle;
  if (!pdc.tx.reserve(tx_pool_)) {
    counters_.add(Count::slot_stalls);
    return Step::full;
  }
  PacketRef ref;
  if (!client_.pull(pdc.message, ref)) {
    pdc.message = MessageHandle{};
    if (pdc.state() == PdcState::quiesce) want_control(pdc);
    return Step::sent;
  }
  if (pdc.tx.empty()) begin_wait(pdc, now);
  const Psn psn = pdc.tx.next();
  TxSlot& slot = pdc.tx.push();
  slot.ref = ref;
  slot.ev = next_ev(pdc, nullptr);
  if (ref.eom) {
    pdc.message = MessageHandle{};
    if (pdc.state() == PdcState::quiesce) want_control(pdc);
  }
  check_psn_range(pdc, psn, now);
  emit_request(pdc, psn, slot, batch, now);
  return Step::sent;
}

// Patience counts from here on: something is outstanding, or something of it was answered.
void Core::begin_wait(Pdc& pdc, Instant now) {
  pdc.waiting_since = now;
  pdc.refused_since = Instant::never();
}

// The PSN space of a PDC ends; the successor takes over in time for what is started. That of return
// data may be the first to end, where few requests ask for much. [PDS-036, PDS-I10, PDS-T10]
void Core::check_psn_range(Pdc& pdc, Psn psn, Instant now) {
  const bool is_closing =
      pdc.is_initiator() ? pdc.life.close_asked() : pdc.state() != PdcState::established;
  if (config_.psn_range_packets == 0 || is_closing) return;
  const uint32_t margin = 2 * std::max<uint32_t>(pdc.range.packets(), PeerRange::kUnit);
  const uint32_t used = psn.value() - pdc.start_psn.value();
  if (used + margin < config_.psn_range_packets) return;
  counters_.add(Count::psn_range_close);
  pdc.is_initiator() ? begin_close(pdc) : ask_close(pdc, now);
}

// The EV changes between bursts; with ROD only when nothing is outstanding. [PDS-004, PDS-146]
Entropy Core::next_ev(Pdc& pdc, const TxSlot* resend) {
  if (pdc.mode == Mode::rod) {
    if (pdc.tx.size() <= 1 && resend == nullptr) pdc.ev = pdc.path->ev.next();
    return pdc.ev;
  }
  if (pdc.ev_left == 0 || (resend != nullptr && resend->ev == pdc.ev)) {
    pdc.ev = pdc.path->ev.next();
    pdc.ev_left = static_cast<uint16_t>(config_.packets_per_entropy * kShortsPerPacket);
  }
  return pdc.ev;
}

// So many packets leave under one EV, or four times as many short ones; with one, each has its own.
void Core::use_ev(Pdc& pdc, uint32_t bytes) {
  const bool is_short = bytes < kShortBytes && config_.packets_per_entropy > 1;
  const uint16_t cost = is_short ? 1 : kShortsPerPacket;
  pdc.ev_left = pdc.ev_left > cost ? static_cast<uint16_t>(pdc.ev_left - cost) : uint16_t{0};
}

// Encodes the packet of a slot, the first time or again. [PDS-063, PDS-064, PDS-065, PDS-146]
void Core::emit_request(Pdc& pdc, Psn psn, TxSlot& slot, TxBatch& batch, Instant now) {
  const Peer& peer = peers_[pdc.peer];
  const bool syn = pdc.state() == PdcState::syn;
  const auto psn_offset = static_cast<uint16_t>(syn ? psn - pdc.start_psn : 0);
  if (slot.kind != SlotKind::data) {
    wire::Control h;
    h.ctl_type = slot.kind == SlotKind::close_cmd   ? wire::CtlType::close_cmd
                 : slot.kind == SlotKind::close_req ? wire::CtlType::close_req
                                                    : wire::CtlType::noop;
    if (slot.kind == SlotKind::noop) counters_.add(Count::noop_tx);
    h.isrod = pdc.mode == Mode::rod;
    h.retx = slot.resends > 0;
    h.ar = true;
    h.syn = syn;
    h.private_mark = syn && config_.private_mark;
    h.psn_offset = psn_offset;
    h.spdcid = pdc.id;
    h.dpdcid = pdc.peer_id;
    h.psn = psn;
    (void)emit_control(pdc, h, slot.ev, batch);  // not sent: as if it were lost
    return on_emitted(pdc, psn, slot, cms::nominal_bytes(wire::Control::kSize), now);
  }

  wire::Request h;
  h.type = pdc.mode == Mode::rod ? wire::PdsType::rod_request : wire::PdsType::rud_request;
  h.next_hdr = slot.ref.next_hdr;
  h.retx = slot.resends > 0;
  h.ar = choose_ar(pdc, slot);
  h.syn = syn;
  h.private_mark = syn && config_.private_mark;
  h.psn_offset = psn_offset;
  h.clear_psn_offset = static_cast<int16_t>((pdc.tx.base() - 1) - psn);
  h.spdcid = pdc.id;
  h.dpdcid = pdc.peer_id;
  h.psn = psn;
  wire::Writer w(batch.begin());
  h.emit(w);
  client_.encode(slot.ref, w, batch);
  batch.commit(static_cast<uint32_t>(w.position()), peer.address, slot.ev, pdc.path->key.tc.value(),
               Ecn::ect0, slot.ref.message.value(), pdc.sdi);
  const TxPacket& packet = batch.packets().back();
  (void)spend(pdc, packet.bytes());  // asked for by window_open()
  pdc.clear_wanted = false;
  counters_.add(Count::tx_requests);
  counters_.add(Count::tx_payload_bytes, packet.payload_bytes);
  on_emitted(pdc, psn, slot, cms::nominal_bytes(packet.bytes()), now);
}

// Whether the packet of a slot that goes out now has AR, and notes it. A message that nobody waits
// for goes without, a few in a row: the next one that has it asks for all, or an ACK Request after
// quiet_time. So a ping-pong of injected messages has no ACK for each. Not while closing, and not
// in SYN, where an ACK is what one waits for. [PDS-064]
bool Core::choose_ar(Pdc& pdc, TxSlot& slot) {
  const Path& path = *pdc.path;
  const bool stalls_next = !window_open(pdc) || !path.ccc.may_send(2 * path.packet_bytes_max);
  const bool must = slot.resends > 0 || config_.ack_per_packet || stalls_next;
  slot.quiet = !must && slot.ref.eom && slot.ref.quiet && pdc.state() == PdcState::established &&
               pdc.quiet_count < config_.quiet_packets;
  const bool ar = must || (slot.ref.eom && !slot.quiet);
  if (slot.quiet) ++pdc.quiet_count;
  if (ar) pdc.quiet_count = 0;
  return ar;
}

void Core::on_emitted(Pdc& pdc, Psn psn, TxSlot& slot, uint32_t nominal, Instant now) {
  UET_ASSERT(nominal <= UINT16_MAX && !slot.in_flight);
  slot.bytes = static_cast<uint16_t>(nominal);
  slot.note_sent(now);
  slot.in_flight = true;
  slot.mark_told = false;
  slot.resends == 0 ? pdc.tx.note_first_sent(psn) : pdc.tx.settle(psn);
  pdc.deficit -= static_cast<int32_t>(nominal);
  if (pdc.mode == Mode::rud) use_ev(pdc, nominal);
  pdc.path->ccc.on_sent({nominal, slot.ev, slot.resends > 0, now});
  // Only what the client wants sent is activity; resends into the void are not.
  if (slot.kind == SlotKind::data && slot.resends == 0) touch(pdc, now);
  // No time-out is shorter than rto_init: as a rule there is nothing to compute.
  const bool is_short = !slot.quiet && config_.tail_loss <= config_.rto_init;
  arm_by(pdc,
         now + (is_short ? config_.tail_loss : std::min(limit_of(pdc, slot), config_.tail_loss)));
}

// The slot is sent again as soon as CMS allows. [PDS-240]
void Core::mark_lost(Pdc& pdc, Psn psn, TxSlot& slot, cms::LossKind kind, Count cause,
                     Instant now) {
  UET_ASSERT(!slot.done);
  if (slot.lost || pdc.life.is_orphan()) return;
  counters_.add(cause);
  if (slot.in_flight) {
    slot.in_flight = false;
    pdc.path->ccc.on_lost({slot.bytes, 1, kind, slot.ev, now});
    const auto feedback = kind == cms::LossKind::timeout   ? cms::PathFeedback::timeout
                          : kind == cms::LossKind::trimmed ? cms::PathFeedback::trimmed
                                                           : cms::PathFeedback::good;
    if (feedback != cms::PathFeedback::good) pdc.path->ev.on_feedback(slot.ev, feedback);
    wake_path(*pdc.path);
  }
  if (slot.ask) --pdc.ask_count;
  slot.delayed = slot.quiet = slot.ask = false;
  slot.lost = true;
  pdc.tx.settle(psn);
  if (pdc.lost_count++ == 0 || psn.before(pdc.lost_from)) pdc.lost_from = psn;
  ListNode<SendTag>& node = pdc;  // it may stand among those with new packets only
  node.unlink();
  want_send(pdc);
}

}  // namespace uet::pds
