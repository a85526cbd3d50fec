// RUDI at the initiator.
//
// packet \ event | response | NACK, loss     | NACK, no room  | NACK, fatal | its timer
// sent           | answered | lost           | delayed        | failed      | lost, or failed
// lost           | answered | -              | delayed        | failed      | (none)
// delayed        | answered | lost           | delayed anew   | failed      | lost, or failed
#include "pds/connectionless/rudi.h"

#include "pds/door/origin.h"
#include "pds/nack_codes.h"

#include <algorithm>

namespace uet::pds {

Result<void> Rudi::create(Arena& arena) {
  const Config& config = with_.config;
  const Room room{std::min(config.rudi_destinations, 64U), config.rudi_destinations};
  UET_CHECK(destinations_.create(arena, room));
  UET_CHECK(by_peer_.create(arena, room, random_.u64()));
  UET_CHECK(packets_.create(arena, config.rudi_packets));
  return by_id_.create(arena, config.rudi_packets, random_.u64());
}

Result<void> Rudi::adopt(Flow& flow) {
  if (RudiDestination* const* const known = by_peer_.find(flow.key.peer)) {
    flow.rudi = *known;
    ++flow.rudi->flows;
    return {};
  }
  RudiDestination* const made =
      destinations_.alloc(flow.key.peer, with_.config.rudi_window, cms_, rng_);
  if (made == nullptr) return Errc::again;
  if (!by_peer_.insert(flow.key.peer, made).ok()) {
    destinations_.free(made);
    return Errc::again;
  }
  made->flows = 1;
  made->rtt = RtoEstimator(with_.config.rto_init);
  flow.rudi = made;
  return {};
}

void Rudi::leave(Flow& flow) {
  RudiDestination& to = *flow.rudi;
  flow.rudi = nullptr;
  if (--to.flows > 0) return;
  UET_ASSERT(to.outstanding == 0);
  by_peer_.erase(to.peer);
  destinations_.free(&to);
}

void Rudi::wake(Flow& flow) {
  UET_ASSERT(flow.rudi != nullptr);
  if (!flow.is_queued()) ready_.push_back(flow);
}

// --- out ---

// Resends first, then new packets, one of each flow in turn.
uint32_t Rudi::transmit(TxBatch& batch, Instant now) {
  const uint32_t before = batch.size();
  const auto may_add = [&] { return !batch.full() && batch.size() - before < kPacketsPerTurn; };
  while (may_add()) {
    RudiPacket* const packet = lost_.pop_front();
    if (packet == nullptr) break;
    packet->resent = true;
    packet->ev = packet->flow->rudi->ev.next();
    emit(*packet, batch, now);
  }
  while (may_add()) {
    Flow* const flow = ready_.pop_front();
    if (flow == nullptr) break;
    if (send_new(*flow, batch, now)) wake(*flow);
  }
  return batch.size() - before;
}

// Sends one packet of the flow, or notes why none can go. False: remove the flow from the queue of
// senders.
bool Rudi::send_new(Flow& flow, TxBatch& batch, Instant now) {
  RudiDestination& to = *flow.rudi;
  if (!is_window_open(to)) {
    with_.counters.add(Count::rudi_window_stalls);
    to.blocked.push_back(flow);
    return false;
  }
  if (packets_.full()) {
    with_.counters.add(Count::rudi_slot_stalls);
    starved_.push_back(flow);
    return false;
  }
  if (flow.message == MessageHandle{}) {
    StartedMessage started;
    if (!flow.ready || !with_.client.start(flow.id, PdcHandle{}, started, now)) {
      flow.ready = false;
      return false;
    }
    flow.message = started.message;
  }
  PacketRef ref;
  if (!with_.client.pull(flow.message, ref)) {
    flow.message = MessageHandle{};
    return true;
  }
  if (ref.eom) flow.message = MessageHandle{};
  RudiPacket* const packet = packets_.alloc();
  UET_ASSERT(packet != nullptr);
  packet->ref = ref;
  packet->flow = &flow;
  packet->ev = to.ev.next();
  packet->silent_since = now;
  do {  // all of them are in use before one comes again
    packet->id = ids_.next();
  } while (!by_id_.insert(packet->id, packet).ok());
  ++to.outstanding;
  ++to.in_flight;
  emit(*packet, batch, now);
  return true;
}

// The same octets every time, but for RETX. [PDS-200, PDS-201, WIRE-121]
void Rudi::emit(RudiPacket& packet, TxBatch& batch, Instant now) {
  wire::RudiRequest h;
  h.next_hdr = packet.ref.next_hdr;
  h.retx = packet.resent;
  h.private_mark = with_.config.private_mark;
  h.pkt_id = packet.id;
  wire::Writer w(batch.begin());
  h.emit(w);
  with_.client.encode(packet.ref, w, batch);
  const FlowKey& key = packet.flow->key;
  batch.commit(static_cast<uint32_t>(w.position()), with_.peers[key.peer].address, packet.ev,
               key.tc.value(), Ecn::ect0, packet.ref.message.value(), key.sdi);
  with_.counters.add(Count::rudi_tx);
  with_.counters.add(Count::tx_payload_bytes, batch.packets().back().payload_bytes);
  packet.bytes = batch.packets().back().bytes() + with_.config.seal_of(key.sdi);
  packet.sent_at = now;
  wheel_.arm(packet.timer, now + rto_of(packet));
}

// --- in ---

// The request with that pkt_id. An answer counts only if it comes from the peer of the request, and
// under the secure domain of the request. [PDS-208, PDS-V8]
RudiPacket* Rudi::find(PktId id, const RxDatagram& d) {
  RudiPacket* const* const found = by_id_.find(id);
  if (found == nullptr || !is_from(d, with_.peers[(*found)->flow->key.peer])) {
    with_.counters.add(Count::drop_rudi_unmatched);
    return nullptr;
  }
  if ((*found)->flow->key.sdi != d.sdi) {
    with_.counters.add(Count::drop_sdi);
    return nullptr;
  }
  return *found;
}

void Rudi::on_response(const RxDatagram& d, Instant now) {
  wire::Reader r(d.bytes);
  const auto h = wire::RudiResponse::parse(r);
  if (!h.ok() || !wire::is_response(h->next_hdr)) {  // [PDS-V4]
    return with_.counters.add(Count::drop_malformed);
  }
  RudiPacket* const packet = find(h->pkt_id, d);  // unmatched: silently dropped [PDS-204]
  if (packet == nullptr) return;
  with_.counters.add(Count::rudi_responses_rx);
  RudiDestination& from = *packet->flow->rudi;
  with_.peers[from.peer].note_heard(now);
  // A response to a resent packet may belong to any of its transmissions. [PDS-141]
  if (!packet->resent && d.at >= packet->sent_at) from.rtt.on_rtt(d.at - packet->sent_at);
  if (h->m || d.ecn == Ecn::ce) {
    shrink(from, now);
  } else {
    grow(from);
  }
  const PacketRef ref = packet->ref;
  forget(*packet);
  with_.client.on_response(ref, {h->next_hdr, r.rest(), d.at}, now);
}

// The same codes as on PDCs; codes about PSNs have no meaning here. [PDS-117, PDS-118, PDS-203]
void Rudi::on_nack(const wire::Nack& h, const RxDatagram& d, Instant now) {
  RudiPacket* const packet = find(h.nack_pkt_id, d);
  if (packet == nullptr) return;
  with_.counters.add(Count::nacks_rx);
  with_.counters.add(nack_rx_count(h.nack_code));
  const NackReaction reaction = reaction_to(h.nack_code);
  switch (reaction) {
    case NackReaction::ignore:
    case NackReaction::rebase:
    case NackReaction::hold_window:
    case NackReaction::send_clear:
    case NackReaction::go_back_n:
    case NackReaction::wait:
      return with_.counters.add(Count::drop_nack_code);
    case NackReaction::fail_message:
    case NackReaction::fail_pdc:
      return fail(*packet, {.reason = FailureReason::nack, .nack = h.nack_code}, now);
    case NackReaction::resend_now:
    case NackReaction::resend_later:
      break;
  }
  RudiDestination& from = *packet->flow->rudi;
  with_.peers[from.peer].note_heard(now);
  shrink(from, now);
  packet->silent_since = now;
  if (packet->nack_count < UINT8_MAX) ++packet->nack_count;
  const bool is_counted =
      with_.config.patience == Patience::retries && with_.config.nack_retx_max != 31;
  if (is_counted && packet->nack_count > with_.config.nack_retx_max) {
    return fail(*packet, {.reason = FailureReason::nack, .nack = h.nack_code}, now);
  }
  if (reaction == NackReaction::resend_later) return delay(*packet, now);
  mark_lost(*packet, Count::rudi_retx_nack);
}

// --- the guard [PDS-205] ---

bool Rudi::is_window_open(const RudiDestination& to) const {
  return to.outstanding < with_.config.rudi_window && to.in_flight < to.window;
}

// A packet that timed out counts as lost, so that an unanswered packet does not hold up the rest.
void Rudi::leave_flight(RudiPacket& packet) {
  if (packet.overdue) return;
  packet.overdue = true;
  RudiDestination& to = *packet.flow->rudi;
  UET_ASSERT(to.in_flight > 0);
  --to.in_flight;
  if (is_window_open(to)) ready_.splice_back(to.blocked);
}

void Rudi::shrink(RudiDestination& to, Instant now) {
  to.clean = 0;
  if (now < to.shrink_at) return;
  to.window = std::max(to.window / 2, 1u);
  to.shrink_at = now + to.rtt.rto(with_.config.shortest_rto(), with_.config.rto_max, 0);
  with_.counters.add(Count::rudi_window_halved);
}

void Rudi::grow(RudiDestination& to) {
  if (++to.clean < to.window) return;
  to.clean = 0;
  to.window = std::min(to.window + 1, with_.config.rudi_window);
}

// --- time and loss ---

Duration Rudi::rto_of(const RudiPacket& packet) const {
  const RtoEstimator& rtt = packet.flow->rudi->rtt;
  return rtt.rto(with_.config.shortest_rto(), with_.config.rto_max, packet.rto_count);
}

void Rudi::advance(Instant now) {
  if (packets_.size() == 0) return;
  wheel_.expire(
      now, [&](TimerNode& node) { on_timer(owner_of<RudiPacket>(node, &RudiPacket::timer), now); });
}

Instant Rudi::next_deadline() const {
  return packets_.size() == 0 ? Instant::never() : wheel_.next_deadline();
}

void Rudi::on_timer(RudiPacket& packet, Instant now) {
  Failure failure;
  if (is_given_up(packet, failure, now)) return fail(packet, failure, now);
  if (packet.delayed) return mark_lost(packet, Count::rudi_retx_delayed);
  if (packet.rto_count < UINT8_MAX) ++packet.rto_count;
  shrink(*packet.flow->rudi, now);
  leave_flight(packet);
  mark_lost(packet, Count::rudi_retx_rto);
}

// Answers to other packets do not extend this wait: the wait for a peer that serves no RUDI would
// never end. [PDS-204, architecture 5]
bool Rudi::is_given_up(const RudiPacket& packet, Failure& failure, Instant now) const {
  const Config& config = with_.config;
  const Peer& peer = with_.peers[packet.flow->key.peer];
  if (peer.is_unreachable(packet.silent_since, packet.sent_at, config.unreachable_time, now)) {
    failure = {FailureReason::unreachable, {}, false};
    return true;
  }
  failure = {FailureReason::timeout, {}, false};
  if (config.patience == Patience::time) return now - packet.silent_since >= config.peer_timeout;
  return !packet.delayed && packet.rto_count >= config.rto_retx_max;
}

void Rudi::mark_lost(RudiPacket& packet, Count cause) {
  if (packet.is_linked()) return;
  with_.counters.add(cause);
  packet.delayed = false;
  wheel_.cancel(packet.timer);
  lost_.push_back(packet);
}

// NACK_Retx_Time, twice as long each time, up to the cap of the time-outs. [PDS-118]
void Rudi::delay(RudiPacket& packet, Instant now) {
  const uint32_t doublings = std::min<uint32_t>(packet.nack_count - 1u, 16);
  const Duration wait = std::min(with_.config.nack_retx * (int64_t{1} << doublings),
                                 std::max(with_.config.rto_max, with_.config.nack_retx));
  packet.unlink();  // from the packets that were to go at once
  packet.delayed = true;
  wheel_.arm(packet.timer, now + wait);
}

// --- ends ---

// The packet, and the rest of its message if that was still to be sent.
void Rudi::fail(RudiPacket& packet, const Failure& failure, Instant now) {
  with_.counters.add(Count::rudi_failed);
  const PacketRef ref = packet.ref;
  Flow& flow = *packet.flow;
  forget(packet);
  with_.client.on_failed(ref, failure, now);
  if (flow.message != ref.message) return;
  flow.message = MessageHandle{};
  with_.client.on_aborted(ref.message, failure, now);
}

bool Rudi::has_too_long(PeerId peer, const PathLimit& limit) {
  bool found = false;
  packets_.for_each([&](const RudiPacket& p) {
    found = found || (p.flow->key.peer == peer && p.bytes > limit.datagram_bytes);
  });
  return found;
}

void Rudi::end_too_long(PeerId peer, const PathLimit& limit, Instant now) {
  packets_.for_each([&](RudiPacket& p) {
    if (p.flow->key.peer != peer || p.bytes <= limit.datagram_bytes) return;
    fail(p, {.reason = FailureReason::too_long}, now);
  });
}

// Frees the packet and its place in the window; the flows that wait for a place get a turn.
void Rudi::forget(RudiPacket& packet) {
  RudiDestination& to = *packet.flow->rudi;
  UET_ASSERT(to.outstanding > 0);
  --to.outstanding;
  leave_flight(packet);
  by_id_.erase(packet.id);
  packet.unlink();
  packets_.free(&packet);
  ready_.splice_back(starved_);
  if (is_window_open(to)) ready_.splice_back(to.blocked);
}

void Rudi::abort(Instant now) {
  packets_.for_each(
      [&](RudiPacket& packet) { fail(packet, {.reason = FailureReason::aborted}, now); });
}

}  // namespace uet::pds
