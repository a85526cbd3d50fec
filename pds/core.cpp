// Set-up, and the calls that the client makes. The files of the class:
//   core.cpp           set-up, calls of the client
//   core_flow.cpp      flows and paths                            [PDS 2]
//   core_receive.cpp   parsing, look-up, opening targets          [PDS 7.1, 4]
//   core_accept.cpp    PSN classes, delivery, responses, order    [PDS 7.2, 7.3, 9]
//   core_control.cpp   control packets received                   [PDS 13]
//   core_ack.cpp       ACKs received                              [PDS 8.5]
//   core_nack.cpp      NACKs received                             [PDS 10.2]
//   core_trim.cpp      what a switch has cut                      [PDS 11]
//   core_transmit.cpp  new packets and resends                    [PDS 6, 12]
//   core_reply.cpp     ACKs, NACKs and control packets sent       [PDS 8, 10.1, 13]
//   core_timer.cpp     deadlines                                  [PDS 12, 15]
//   core_close.cpp     close, failure, reclaim                    [PDS 5, 15]
#include "pds/core.h"

#include <algorithm>

namespace uet::pds {

Result<void> Core::init(Arena& arena) {
  if (!config_.valid()) return Errc::invalid;
  const uint32_t pdcs = config_.max_pdcs;
  const uint32_t floor = static_cast<uint32_t>(uint64_t{pdcs} * config_.target_floor_percent / 100);
  constexpr uint32_t kIds = 65535;
  const uint32_t tombstones = std::min(config_.tombstones, kIds - pdcs);
  UET_CHECK(table_.create(arena, {pdcs, pdcs - floor, tombstones, config_.reserved_pdcs}, random_,
                          &peers_));
  UET_CHECK(flows_.create(arena, config_.max_flows, random_.u64()));
  // Unless told otherwise every flow and every target PDC can have a path of its own.
  const uint32_t paths = config_.max_paths != 0 ? config_.max_paths : config_.max_flows + pdcs;
  const uint32_t rx_windows = config_.rx_windows != 0 ? config_.rx_windows : pdcs;
  const Room path_room{std::min(paths, 64U), paths};
  UET_CHECK(paths_.create(arena, path_room));
  UET_CHECK(path_by_key_.create(arena, path_room, random_.u64()));
  UET_CHECK(demands_.create(arena, config_.credit_sources));
  UET_CHECK(responses_.create(arena, config_.gd_entries));
  UET_CHECK(reordered_.create(arena, config_.reorder_packets));
  reorder_pool_.create(arena, config_.reorder_packets, config_.reorder_packet_bytes);
  UET_CHECK(return_messages_.create(arena, config_.return_messages));
  tx_pool_.create(arena, pdcs);
  rx_pool_.create(arena, rx_windows, RxWindow::block_bytes(config_.tracked_packets()));
  UET_CHECK(replies_.create(arena, config_.reply_queue));
  UET_CHECK(starts_.create(arena, config_.secure_starts, random_.u64()));
  UET_CHECK(shares_.create(arena, pdcs, random_.u64()));
  UET_CHECK(probe_answers_.create(arena, config_.reply_queue));
  UET_CHECK(answers_.create(arena, config_.reply_queue));
  ack_rules_ = {config_.ack_gen_trigger_bytes, config_.ack_gen_min_packet_bytes,
                config_.ack_gen_packets, config_.ack_per_packet, config_.ack_on_ecn};
  return connectionless_.create(arena);
}

void Core::ready(FlowId id) {
  Flow* const flow = flows_.get(id);
  UET_ASSERT(flow != nullptr);
  flow->ready = true;
  if (!has_pdcs(flow->key.mode)) return connectionless_.wake(*flow);
  wake_flow(*flow);
}

void Core::want_answers(FlowId id, Instant now) {
  Flow* const flow = flows_.get(id);
  UET_ASSERT(flow != nullptr);
  for (Pdc& pdc : flow->pdcs) ask_for_quiet(pdc, now);
}

// The answer says of the packet's way what was noted when the packet came. [PDS-070]
bool Core::respond(RxToken token, const Verdict& verdict, Instant now) {
  Pdc* const pdc = table_.get(token.pdc);
  if (pdc == nullptr || !pdc->rx.is_held(token.psn)) return false;
  StoredResponse* const entry = entry_for(*pdc, token.psn);
  if (entry == nullptr || !entry->is_awaited) return false;
  UET_ASSERT(verdict.kind != Verdict::Kind::later && pdc->later_count > 0);
  --pdc->later_count;
  const AckTrigger trigger = entry->trigger;
  if (verdict.kind == Verdict::Kind::respond && !pdc->is_initiator()) {  // [PDS-108]
    entry->is_awaited = false;
    fill(*pdc, *entry, verdict);
    if (!verdict.guaranteed) pdc->rx.unhold(rx_pool_, token.psn);
    want_control(*pdc);
    return true;
  }
  responses_.free(entry);
  switch (verdict.kind) {
    case Verdict::Kind::nack:
      nack(*pdc, verdict.nack, trigger, now);
      [[fallthrough]];
    case Verdict::Kind::drop:
      pdc->rx.forget(token.psn);
      break;
    case Verdict::Kind::respond:
    case Verdict::Kind::accept:
    case Verdict::Kind::later:
      pdc->rx.unhold(rx_pool_, trigger.psn);
      want_answer(*pdc, Count::ack_response, trigger);
      break;
  }
  want_control(*pdc);
  return true;
}

// An ACK that names the packet, unless the cumulative ACK covers it by then. [PDS-064]
void Core::want_answer(Pdc& pdc, Count cause, AckTrigger trigger) {
  const bool is_own = trigger.ce || trigger.psn.after(pdc.rx.cack_psn());
  if (is_own && add_answer(pdc, trigger)) trigger.ce = false;  // told once
  pdc.ack.want(cause, trigger);
  want_control(pdc);
}

// False: no room, so the next ACK of the PDC has to do.
bool Core::add_answer(const Pdc& pdc, const AckTrigger& trigger) {
  if (answers_.full()) {
    counters_.add(Count::ack_answers_full);
    return false;
  }
  answers_.push({pdc.handle, trigger});
  return true;
}

bool Core::send_return(PdcHandle handle, MessageHandle message) {
  Pdc* const pdc = table_.get(handle);
  // After a failure there are holes below that nobody fills any more. [PDS-T17]
  if (pdc == nullptr || pdc->is_initiator() || pdc->life.has_failed()) return false;
  ReturnMessage* const queued = return_messages_.alloc();
  if (queued == nullptr) return false;
  queued->message = message;
  pdc->returns.push_back(*queued);
  if (needs_proof(*pdc)) ask_for_proof(*pdc);
  want_send(*pdc);
  return true;
}

void Core::message_done(PdcHandle handle) {
  Pdc* const pdc = table_.get(handle);
  if (pdc == nullptr) return;
  UET_ASSERT(pdc->keep_count > 0);
  --pdc->keep_count;
  if (pdc->state() == PdcState::quiesce) want_control(*pdc);
}

// Windows track what they were made for, so that the old range stays usable until the cumulative
// ACK has consumed it. Half or less is told at once, else the peer learns it by the next ACK.
// [PDS-035, PDS-A11]
Result<void> Core::set_mpr(uint8_t mpr) {
  if (mpr == 0 || mpr > config_.mpr) return Errc::invalid;
  mpr_ = mpr;
  table_.for_each([&](Pdc& pdc) {
    const bool is_known = pdc.state() != PdcState::syn && pdc.acked_once;
    if (!is_known || 2 * uint32_t{mpr} > pdc.told_mpr) return;
    pdc.ack.want(Count::ack_mpr, pdc.ack.trigger());
    want_control(pdc);
  });
  return {};
}

void Core::on_unreachable(const FabricAddress& address, Instant now) {
  PeerId id;
  Peer* const peer = peers_.find(address, id);
  if (peer == nullptr) return;
  counters_.add(Count::unreachable_reports);
  // A series ends when the peer is heard, or when nobody tried for a while.
  const bool is_first = peer->unreachable_since.is_never() ||
                        now - peer->unreachable_last >= config_.unreachable_time;
  if (is_first) peer->unreachable_since = now;
  peer->unreachable_last = now;
}

Instant Core::next_deadline() const {
  return std::min({wheel_.next_deadline(), table_.next_expiry(), connectionless_.next_deadline()});
}

bool Core::has_work() const {
  return !replies_.empty() || !probe_answers_.empty() || !answers_.empty() ||
         !due_responses_.empty() || !control_.empty() || !resend_.empty() || !open_paths_.empty() ||
         !send_.empty() || !ready_.empty() || flows_.has_released() || connectionless_.has_work();
}

bool Core::idle() {
  bool is_idle = connectionless_.idle();
  table_.for_each([&](Pdc& pdc) {
    const bool open = pdc.state() == PdcState::syn || pdc.state() == PdcState::established;
    if (!open || !pdc.tx.empty() || !pdc.returns.empty() || pdc.message != MessageHandle{}) {
      is_idle = false;
    }
  });
  return is_idle && !has_work();
}

std::optional<PdcState> Core::state_of(Pdcid id) const {
  const Pdc* const pdc = table_.find(id);
  if (pdc == nullptr) return {};
  return pdc->state();
}

Usage Core::usage() {
  Usage u;
  u.pdcs = table_.size();
  u.timers = wheel_.armed_count();
  u.stored_responses = responses_.size();
  u.reordered_packets = reordered_.size();
  u.return_messages = return_messages_.size();
  u.tx_blocks = tx_pool_.in_use();
  u.rx_blocks = rx_pool_.in_use();
  u.rudi_packets = connectionless_.outstanding();
  u.rudi_answers = connectionless_.waiting_answers();
  paths_.for_each([&](Path& p) { u.inflight_bytes += p.ccc.inflight_bytes(); });
  return u;
}

Footprint Core::footprint() const {
  return {uint64_t{table_.size()} * sizeof(Pdc), uint64_t{paths_.size()} * sizeof(Path),
          tx_pool_.in_use_bytes() + rx_pool_.in_use_bytes()};
}

// --- Pds ---

Result<Pds*> Pds::create(Arena& arena, const Config& config, const cms::Config& cms,
                         PeerTable& peers, Client& client, RandomSource& random) {
  Core* const core = arena.make<Core>(config, cms, peers, client, random);
  if (core == nullptr) return Errc::no_memory;
  UET_CHECK(core->init(arena));
  Pds* const pds = arena.make<Pds>(*core);
  if (pds == nullptr) return Errc::no_memory;
  return pds;
}

Result<Pds*> Pds::create(Arena& arena, const Config& config, const cms::Config& cms,
                         PeerTable& peers, Client& client, uint64_t seed) {
  SeededRandom* const random = arena.make<SeededRandom>(seed);
  if (random == nullptr) return Errc::no_memory;
  return create(arena, config, cms, peers, client, *random);
}

Result<FlowId> Pds::flow(PeerId peer, TrafficClass tc, Mode mode, JobId job, uint32_t sdi) {
  return core_.flow({peer, tc, mode, job, sdi});
}
void Pds::release(FlowId flow) { core_.release_flow(flow); }
void Pds::ready(FlowId flow) { core_.ready(flow); }
void Pds::want_answers(FlowId flow, Instant now) { core_.want_answers(flow, now); }
void Pds::receive(const RxDatagram& datagram, Instant now) { core_.receive(datagram, now); }
void Pds::receive(std::span<const RxDatagram> datagrams, Instant now) {
  core_.receive(datagrams, now);
}
uint32_t Pds::transmit(TxBatch& batch, Instant now) { return core_.transmit(batch, now); }
void Pds::advance(Instant now) { core_.advance(now); }
Instant Pds::next_deadline() const { return core_.next_deadline(); }
bool Pds::has_work() const { return core_.has_work(); }
bool Pds::respond(RxToken token, const Verdict& verdict, Instant now) {
  return core_.respond(token, verdict, now);
}
bool Pds::send_return(PdcHandle pdc, MessageHandle message) {
  return core_.send_return(pdc, message);
}
void Pds::message_done(PdcHandle pdc) { core_.message_done(pdc); }
Result<void> Pds::set_mpr(uint8_t mpr) { return core_.set_mpr(mpr); }
void Pds::on_unreachable(const FabricAddress& address, Instant now) {
  core_.on_unreachable(address, now);
}
std::optional<PathChange> Pds::on_path_limit(const FabricAddress& to, PathLimit limit,
                                             Instant now) {
  return core_.on_path_limit(to, limit, now);
}
void Pds::close_all(bool abort, Instant now) { core_.close_all(abort, now); }
bool Pds::idle() const { return core_.idle(); }
const Counters& Pds::counters() const { return core_.counters(); }
uint32_t Pds::open_pdcs() const { return core_.open_pdcs(); }
std::optional<PdcState> Pds::state_of(Pdcid id) const { return core_.state_of(id); }
Usage Pds::usage() const { return core_.usage(); }
Footprint Pds::footprint() const { return core_.footprint(); }
uint32_t Pds::snapshot(std::span<PdcSnapshot> out, Instant now) const {
  return core_.snapshot(out, now);
}

}  // namespace uet::pds
