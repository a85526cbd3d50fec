// Routing: each call goes to the part that it concerns.
#include "pds/pds.h"

#include "pds/pdc/snapshots.h"
#include "pds/rooms.h"
#include "pds/tx/may_send.h"

#include <algorithm>

namespace uet::pds {

Result<Pds*> Pds::create(Arena& arena, const Config& config, const cms::Config& cms,
                         PeerTable& peers, Client& client, RandomSource& random) {
  Rooms* const rooms = arena.make<Rooms>(config, cms, peers, client, random);
  if (rooms == nullptr) return Errc::no_memory;
  UET_CHECK(rooms->create(arena));
  Pds* const pds = arena.make<Pds>(*rooms);
  if (pds == nullptr) return Errc::no_memory;
  return pds;
}

Result<Pds*> Pds::create(Arena& arena, const Config& config, const cms::Config& cms,
                         PeerTable& peers, Client& client, uint64_t seed) {
  SeededRandom* const random = arena.make<SeededRandom>(seed);
  if (random == nullptr) return Errc::no_memory;
  return create(arena, config, cms, peers, client, *random);
}

// --- packets and timers ---

void Pds::receive(const RxDatagram& datagram, Instant now) { rooms_.demux.receive(datagram, now); }
void Pds::receive(std::span<const RxDatagram> datagrams, Instant now) {
  rooms_.demux.receive(datagrams, now);
}
uint32_t Pds::transmit(TxBatch& batch, Instant now) { return rooms_.turns.transmit(batch, now); }

void Pds::advance(Instant now) {
  rooms_.schedule.expire(now, [&](Pdc& pdc) { rooms_.deadlines.on_timer(pdc, now); });
  rooms_.table.expire_tombstones(now);
  rooms_.connectionless.advance(now);
}

Instant Pds::next_deadline() const {
  return std::min({rooms_.schedule.next_deadline(), rooms_.table.next_expiry(),
                   rooms_.connectionless.next_deadline()});
}

bool Pds::has_work() const {
  return !rooms_.replies.empty() || rooms_.acks.has_work() || rooms_.store.has_due() ||
         rooms_.schedule.has_work() || rooms_.flows.has_released() ||
         rooms_.connectionless.has_work();
}

// --- calls of the client ---

Result<FlowId> Pds::flow(PeerId peer, TrafficClass tc, Mode mode, JobId job, uint32_t sdi) {
  return rooms_.flows.flow({peer, tc, mode, job, sdi});
}
void Pds::release(FlowId flow) { rooms_.flows.release_flow(flow); }
bool Pds::respond(RxToken token, const Verdict& verdict, Instant now) {
  return rooms_.inbox.respond(token, verdict, now);
}
Result<void> Pds::set_mpr(uint8_t mpr) { return rooms_.acks.set_mpr(mpr); }
void Pds::on_unreachable(const FabricAddress& address, Instant now) {
  rooms_.reports.on_unreachable(address, now);
}
std::optional<PathChange> Pds::on_path_limit(const FabricAddress& to, PathLimit limit,
                                             Instant now) {
  return rooms_.reports.on_path_limit(to, limit, now);
}

void Pds::ready(FlowId id) {
  Flow* const flow = rooms_.flow_table.get(id);
  UET_ASSERT(flow != nullptr);
  flow->ready = true;
  if (!has_pdcs(flow->key.mode)) return rooms_.connectionless.wake(*flow);
  rooms_.schedule.wake_flow(*flow);
}

void Pds::want_answers(FlowId id, Instant now) {
  Flow* const flow = rooms_.flow_table.get(id);
  UET_ASSERT(flow != nullptr);
  for (Pdc& pdc : flow->pdcs) rooms_.loss.ask_for_quiet(pdc, now);
}

bool Pds::send_return(PdcHandle handle, MessageHandle message) {
  Pdc* const pdc = rooms_.table.get(handle);
  // After a failure there are holes below that nobody fills any more. [PDS-T17]
  if (pdc == nullptr || pdc->is_initiator() || pdc->life.has_failed()) return false;
  ReturnMessage* const queued = rooms_.res.return_messages.alloc();
  if (queued == nullptr) return false;
  queued->message = message;
  pdc->messages.add_return(*queued);
  if (needs_proof(rooms_.res, *pdc)) rooms_.proofs.ask_for_proof(*pdc);
  rooms_.schedule.want_send(*pdc);
  return true;
}

void Pds::message_done(PdcHandle handle) {
  Pdc* const pdc = rooms_.table.get(handle);
  if (pdc == nullptr) return;
  pdc->messages.note_done();
  if (pdc->state() == PdcState::quiesce) rooms_.schedule.want_control(*pdc);
}

bool Pds::idle() const {
  bool is_idle = rooms_.connectionless.idle();
  rooms_.table.for_each([&](Pdc& pdc) {
    const bool open = pdc.state() == PdcState::syn || pdc.state() == PdcState::established;
    if (!open || !pdc.tx.empty() || !pdc.messages.empty()) {
      is_idle = false;
    }
  });
  return is_idle && !has_work();
}

std::optional<PdcState> Pds::state_of(Pdcid id) const {
  const Pdc* const pdc = rooms_.table.find(id);
  if (pdc == nullptr) return {};
  return pdc->state();
}

void Pds::close_all(bool abort, Instant now) {
  if (abort) {
    rooms_.connectionless.abort(now);
    rooms_.flow_table.for_each([&](Flow& flow) {  // what is half sent without a PDC ends, too
      const MessageHandle message = flow.message;
      flow.message = MessageHandle{};
      if (message == MessageHandle{}) return;
      rooms_.res.client.on_aborted(message, {FailureReason::aborted, {}, false}, now);
    });
  }
  rooms_.table.for_each([&](Pdc& pdc) {
    if (abort) {
      const Failure failure{FailureReason::aborted, {}, false};
      rooms_.ending.fail(pdc, failure, Count::pdc_closed_aborted, false, now);
    } else if (pdc.is_unheard()) {
      rooms_.ending.free_pdc(pdc, PdcEvent::freed, true, false, now);
    } else if (pdc.is_initiator()) {
      rooms_.closing.begin_close(pdc);
    } else {
      rooms_.closing.ask_close(pdc, now);
    }
  });
}

// --- for tools and tests ---

const Counters& Pds::counters() const { return rooms_.res.counters; }
uint32_t Pds::open_pdcs() const { return rooms_.table.size(); }

Usage Pds::usage() const {
  Usage u;
  u.pdcs = rooms_.table.size();
  u.timers = rooms_.schedule.armed_timers();
  u.stored_responses = rooms_.store.size();
  u.reordered_packets = rooms_.reorder.size();
  u.return_messages = rooms_.res.return_messages.size();
  u.tx_blocks = rooms_.res.tx_pool.in_use();
  u.rx_blocks = rooms_.res.rx_pool.in_use();
  u.rudi_packets = rooms_.connectionless.outstanding();
  u.rudi_answers = rooms_.connectionless.waiting_answers();
  rooms_.paths.for_each([&](Path& p) { u.inflight_bytes += p.ccc.inflight_bytes(); });
  return u;
}

Footprint Pds::footprint() const {
  return {uint64_t{rooms_.table.size()} * sizeof(Pdc), uint64_t{rooms_.paths.size()} * sizeof(Path),
          rooms_.res.tx_pool.in_use_bytes() + rooms_.res.rx_pool.in_use_bytes()};
}

uint32_t Pds::snapshot(std::span<PdcSnapshot> out, Instant now) const {
  return copy_pdcs(rooms_.table, rooms_.res.peers, out, now);
}

}  // namespace uet::pds
