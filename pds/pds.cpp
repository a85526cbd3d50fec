// Routing: each call goes to the part that it concerns.
#include "pds/pds.h"

#include "pds/parts.h"
#include "pds/pdc/snapshots.h"
#include "pds/tx/may_send.h"

#include <algorithm>

namespace uet::pds {

Result<Pds*> Pds::create(Arena& arena, const Config& config, const cms::Config& cms,
                         PeerTable& peers, Client& client, RandomSource& random) {
  Parts* const parts = arena.make<Parts>(config, cms, peers, client, random);
  if (parts == nullptr) return Errc::no_memory;
  UET_CHECK(parts->create(arena));
  Pds* const pds = arena.make<Pds>(*parts);
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

void Pds::receive(const RxDatagram& datagram, Instant now) { parts_.demux.receive(datagram, now); }
void Pds::receive(std::span<const RxDatagram> datagrams, Instant now) {
  parts_.demux.receive(datagrams, now);
}
MessageHandle Pds::prefetch(uint32_t step, std::span<const std::byte> datagram) const {
  if (step == 0) parts_.prefetch();
  if (step == 1) parts_.lookup.prefetch_id(datagram);
  if (step == 2) parts_.lookup.prefetch_pdc(datagram);
  if (step < 3) return {};
  const Pdc* const pdc = parts_.lookup.pdc_ahead(datagram);
  if (pdc == nullptr) return {};
  if (step == 3) parts_.prefetch(*pdc);
  return pdc->messages.current();
}
uint32_t Pds::transmit(TxBatch& batch, Instant now, Lead lead) {
  return parts_.turns.transmit(batch, now, lead);
}

void Pds::advance(Instant now) {
  parts_.schedule.expire(now, [&](Pdc& pdc) { parts_.deadlines.on_timer(pdc, now); });
  parts_.table.expire_tombstones(now);
  parts_.connectionless.advance(now);
  parts_.destination.note_due(now);
}

Instant Pds::next_deadline() const {
  return std::min({parts_.schedule.next_deadline(), parts_.table.next_expiry(),
                   parts_.connectionless.next_deadline(), parts_.destination.deadline()});
}

bool Pds::has_work(Work which) const {
  return !parts_.replies.empty() || parts_.acks.has_work() || parts_.store.has_due() ||
         parts_.schedule.has_work(which) || parts_.flows.has_released() ||
         parts_.connectionless.has_work() || parts_.destination.is_due();
}

// --- calls of the client ---

Result<FlowId> Pds::flow(PeerId peer, TrafficClass tc, Mode mode, JobId job, uint32_t sdi) {
  return parts_.flows.flow({peer, tc, mode, job, sdi});
}
void Pds::release(FlowId flow) { parts_.flows.release_flow(flow); }
bool Pds::respond(RxToken token, const Verdict& verdict, Instant now) {
  Pdc* const pdc = parts_.table.get(token.pdc);
  if (pdc == nullptr) return false;
  const LateAnswer answer = parts_.inbox.respond(*pdc, token.psn, verdict, now);
  if (answer.is_refusal) parts_.replies.nack(*pdc, verdict.nack, answer.trigger, now);
  return answer.is_known;
}
Result<void> Pds::set_mpr(uint8_t mpr) { return parts_.acks.set_mpr(mpr); }
PathReports& Pds::path_reports() { return parts_.reports; }

bool Pds::heeds_backlog() const { return parts_.res.cms.has_credit(); }

void Pds::ready(FlowId id, uint64_t bytes) {
  Flow* const flow = parts_.flow_table.get(id);
  UET_ASSERT(flow != nullptr);
  flow->ready = true;
  if (!has_pdcs(flow->key.mode)) return parts_.connectionless.wake(*flow);
  if (bytes != 0 && flow->context->ccc.has_credit()) {
    flow->context->backlog.add(bytes);             // [CMS-016]
    parts_.schedule.wake_context(*flow->context);  // it may have to ask for more
  }
  parts_.schedule.wake_flow(*flow);
}

void Pds::withdraw(FlowId id, uint64_t bytes) {
  Flow* const flow = parts_.flow_table.get(id);
  UET_ASSERT(flow != nullptr);
  if (flow->context != nullptr) flow->context->backlog.take(bytes);
}

void Pds::set_pressure(uint64_t bytes, Instant now) { parts_.destination.set_pressure(bytes, now); }

void Pds::want_answers(FlowId id, Instant now) {
  Flow* const flow = parts_.flow_table.get(id);
  UET_ASSERT(flow != nullptr);
  for (Pdc& pdc : flow->pdcs) parts_.loss.ask_for_quiet(pdc, now);
}

bool Pds::send_return(PdcHandle handle, MessageHandle message, uint32_t bytes) {
  Pdc* const pdc = parts_.table.get(handle);
  if (pdc == nullptr || pdc->is_initiator()) return false;
  // After a failure the holes below are never filled, and a peer that closes the PDC answers only
  // the packets that it had received before. [PDS-T17, PDS-120]
  if (pdc->life.has_failed() || pdc->life.is_draining()) return false;
  ReturnMessage* const queued = parts_.res.return_messages.alloc();
  if (queued == nullptr) return false;
  queued->message = message;
  queued->bytes = pdc->context->ccc.has_credit() ? bytes : 0;
  pdc->context->backlog.add(queued->bytes);
  pdc->messages.add_return(*queued);
  if (needs_proof(parts_.res, *pdc)) parts_.proofs.ask_for_proof(*pdc);
  parts_.schedule.want_send(*pdc);
  return true;
}

void Pds::message_done(PdcHandle handle) {
  Pdc* const pdc = parts_.table.get(handle);
  if (pdc == nullptr) return;
  pdc->messages.note_done();
  if (pdc->state() == PdcState::quiesce) parts_.schedule.want_control(*pdc);
}

bool Pds::idle() const {
  bool is_idle = parts_.connectionless.idle();
  parts_.table.for_each([&](Pdc& pdc) {
    const bool open = pdc.state() == PdcState::syn || pdc.state() == PdcState::established;
    if (!open || !pdc.tx.empty() || !pdc.messages.empty()) {
      is_idle = false;
    }
  });
  return is_idle && !has_work();
}

namespace {

void close_domain(Parts& parts, uint32_t sdi, bool abort, Instant now) {
  parts.table.for_each([&](Pdc& pdc) {
    if (pdc.sdi != sdi) return;
    if (abort) {
      const Failure failure{.reason = FailureReason::no_key};
      parts.ending.fail(pdc, failure, Count::pdc_closed_no_key, Notice::none, now);
    } else if (pdc.flow == nullptr || !pdc.flow->ready) {
      parts.ending.close(pdc, now);
    }
  });
}

}  // namespace

void Pds::close_all(bool abort, Instant now, uint32_t sdi) {
  if (sdi != 0) return close_domain(parts_, sdi, abort, now);
  if (abort) {
    parts_.connectionless.abort(now);
    parts_.flow_table.for_each([&](Flow& flow) {  // half-sent messages without a PDC end, too
      const MessageHandle message = flow.message;
      flow.message = MessageHandle{};
      if (message == MessageHandle{}) return;
      parts_.res.client.on_aborted(message, {.reason = FailureReason::aborted}, now);
    });
  }
  parts_.table.for_each([&](Pdc& pdc) {
    if (abort) {
      const Failure failure{.reason = FailureReason::aborted};
      parts_.ending.fail(pdc, failure, Count::pdc_closed_aborted, Notice::none, now);
    } else {
      parts_.ending.close(pdc, now);
    }
  });
}

// --- for tools and tests ---

const Counters& Pds::counters() const { return parts_.res.counters; }
uint32_t Pds::open_pdcs() const { return parts_.table.size(); }

Usage Pds::usage() const {
  Usage u;
  u.pdcs = parts_.table.size();
  u.timers = parts_.schedule.armed_timers();
  u.stored_responses = parts_.store.size();
  u.reordered_packets = parts_.reorder.size();
  u.return_messages = parts_.res.return_messages.size();
  u.tx_blocks = parts_.res.tx_pool.in_use();
  u.rx_blocks = parts_.res.rx_pool.in_use();
  u.rudi_packets = parts_.connectionless.outstanding();
  u.rudi_answers = parts_.connectionless.waiting_answers();
  parts_.contexts.for_each([&](Context& p) { u.inflight_bytes += p.ccc.inflight_bytes(); });
  return u;
}

Footprint Pds::footprint() const {
  return {uint64_t{parts_.table.size()} * sizeof(Pdc),
          uint64_t{parts_.contexts.size()} * sizeof(Context),
          parts_.res.tx_pool.in_use_bytes() + parts_.res.rx_pool.in_use_bytes()};
}

uint32_t Pds::snapshot(std::span<PdcSnapshot> out, Instant now) const {
  return copy_pdcs(parts_.table, parts_.res.peers, out, now);
}

ContextPage Pds::snapshot(std::span<ContextSnapshot> out, uint32_t from) const {
  return copy_contexts(parts_.contexts, parts_.res.peers, out, from);
}

}  // namespace uet::pds
