// Operations of the initiator side: how they are posted, wait, are released to PDS and end.
//
// state \ event | released | start    | all answered        | refused, retryable   | cancelled
// held          | queued   | -        | -                   | -                    | gone
// queued        | -        | started  | -                   | -                    | gone
// started       | -        | -        | gone (or next part) | waiting, ROD: held   | ended
// waiting       | queued   | -        | -                   | -                    | gone
// ended         | -        | -        | gone                | gone                 | -
#include "ses/outgoing/initiator.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace uet::ses {

Result<void> Initiator::create(uint64_t seed) {
  const Config& config = core_.config;
  Rng rng(seed, 3);
  // Message handles leave one index bit to tell return messages apart. Behind the first chunk are
  // fewer unused indices than it has slots.
  const Room room{64 + internal_operations(), kOperationsMax};
  static_assert(kOperationsMax <= (Handle<TxMessage>::kIndexMask + 1) / 4);
  UET_CHECK(messages_.create(*core_.arena, room, Reuse::rested));
  UET_CHECK(inject_.create(*core_.arena, Room{64, kOperationsMax}, config.long_injects));
  UET_CHECK(exposures_.create(*core_.arena, config.rendezvous_sends, Reuse::rested));
  UET_CHECK(deferrals_.create(*core_.arena, config.deferrable_sends));
  UET_CHECK(returns_.create(*core_.arena, config.return_messages, Reuse::rested));
  const Room flow_room{std::min(config.flows, 16U), config.flows};
  const uint32_t remotes = config.remotes + internal_operations();
  const Room remote_room{std::min(remotes, 16U), remotes};
  UET_CHECK(flows_.create(*core_.arena, flow_room));
  UET_CHECK(names_.create(*core_.arena, flow_room));
  UET_CHECK(remotes_.create(*core_.arena, remote_room));
  UET_CHECK(flow_by_key_.create(*core_.arena, flow_room, rng.u64()));
  UET_CHECK(flow_by_id_.create(*core_.arena, flow_room, rng.u64()));
  UET_CHECK(remote_by_key_.create(*core_.arena, remote_room, rng.u64()));
  UET_CHECK(remote_by_source_.create(*core_.arena, remote_room, rng.u64()));
  UET_CHECK(flow_of_peer_.create(*core_.arena, flow_room, rng.u64()));
  return deferral_by_token_.create(*core_.arena, config.deferrable_sends, rng.u64());
}

TxMessage* Initiator::message(pds::MessageHandle handle) {
  return messages_.get(Handle<TxMessage>::from_word(handle.value()));
}

Result<Taken> Initiator::send(Endpoint& ep, const SendRequest& request) {
  const bool is_datagram = ep.options.mode == pds::Mode::uud;
  if (is_datagram && request.tagged) return Errc::unsupported;
  TxMessage* m = UET_TRY(make(ep, request.to, request.iov, request.flags));
  if (is_datagram && m->memory.bytes() > m->mtu) {  // [SES-104]
    free(*m);
    return Errc::too_long;
  }
  m->kind = request.tagged ? OpKind::tagged_send : OpKind::send;
  m->opcode = is_datagram      ? wire::SesOpcode::datagram_send
              : request.tagged ? wire::SesOpcode::tagged_send
                               : wire::SesOpcode::send;
  m->match_bits = request.tagged ? request.tag : 0;  // [SES-071]
  m->header_data = request.data;
  m->context = request.context;
  if (m->segment_length >= core_.config.rendezvous_bytes) {
    expose(ep, *m, request.iov, request.to.capabilities);
  }
  if (m->segment_length >= core_.config.defer_bytes && m->exposure == nullptr) {
    make_deferrable(ep, *m, request.to);
  }
  m->header = header_for(*m, request.to.capabilities);
  return post(ep, *m);
}

Result<Taken> Initiator::rma(Endpoint& ep, const RmaRequest& request) {
  if (ep.options.mode == pds::Mode::uud) return Errc::unsupported;
  if (request.read && (request.flags & (kOpInject | kOpRemoteData)) != 0) return Errc::invalid;
  TxMessage* m = UET_TRY(make(ep, request.to, request.iov, request.flags));
  m->kind = request.read ? OpKind::read : OpKind::write;
  m->opcode = request.read ? wire::SesOpcode::read : wire::SesOpcode::write;
  m->match_bits = request.key;
  m->remote_offset = request.remote_offset;
  m->header_data = request.data;
  m->context = request.context;
  // What a first packet asks for is implied by the MTU, so toward a peer of another MTU every
  // packet is a message of its own. [LF-131, SES-017]
  if (request.read && !reads_whole(*m, request.to.peer)) {
    m->push_length = m->segment_length = std::min<uint32_t>(m->segment_length, m->mtu);
  }
  if (Flow* const rudi = rudi_flow(ep, request)) {
    m->flow = rudi;
    ++rudi->users;
  }
  m->header = header_for(*m, request.to.capabilities);
  return post(ep, *m);
}

// RUDI is a choice, never a need: what it does not take goes the endpoint's way. Only memory on
// which replays do no harm, no header data, no order. [SES-027, SES-077, LF-091]
Flow* Initiator::rudi_flow(Endpoint& ep, const RmaRequest& request) {
  if ((request.flags & kOpRudi) == 0) return nullptr;
  const uint8_t common = common_profiles(core_.config.profiles, request.to.capabilities);
  if (support(common, Feature::rudi) != Support::mandatory) return nullptr;
  if ((request.flags & kOpRemoteData) != 0) return nullptr;
  if (ep.options.mode != pds::Mode::rud || (request.key & kIdempotentSafe) == 0) return nullptr;
  const JobId job = request.to.job.value() != 0 ? request.to.job : ep.name.job;
  const Result<Flow*> found = flow(ep, request.to.peer, pds::Mode::rudi, job);
  return found.ok() ? *found : nullptr;
}

Result<TxMessage*> Initiator::make(Endpoint& ep, const Destination& to,
                                   std::span<const IoSlice> iov, uint32_t flags) {
  if (ep.tx_open >= ep.options.tx_size || messages_.size() >= operations_max_) return Errc::again;
  Remote* at = UET_TRY(remote(ep, to));
  TxMessage* m = messages_.alloc();
  if (m == nullptr) return Errc::again;
  const Result<void> taken = take_memory(ep, *m, iov, flags);
  if (!taken.ok()) {
    messages_.free(m);
    return taken.error();
  }
  m->handle = messages_.handle(m).word();
  m->mtu = payload_toward(to.peer);
  m->push_length = m->segment_length = static_cast<uint32_t>(m->memory.bytes());
  m->remote = at;
  m->flow = at->flow;
  m->endpoint = ep.id;
  m->job = at->key.job;
  m->initiator = ep.name.initiator_id;
  m->is_fenced = (flags & kOpFence) != 0;
  m->delivery_complete = (flags & kOpDeliveryComplete) != 0;
  m->has_data = (flags & kOpRemoteData) != 0;
  // Of what was retained the user knows already that it is done. With the queue or the rooms half
  // full somebody may be waiting for room there.
  const bool is_awaited = (flags & kOpQuiet) == 0 && !m->is_retained;
  const bool is_scarce = ep.tx_open >= ep.options.tx_size / 2 || ep.retained.is_scarce();
  m->is_quiet = !is_awaited && !is_scarce && !m->delivery_complete && !m->is_fenced &&
                m->segment_length <= m->mtu;
  return m;
}

// [LF-131]
uint16_t Initiator::payload_toward(PeerId peer) const {
  return static_cast<uint16_t>((*core_.peers)[peer].payload_toward(core_.config.payload_mtu));
}

// The peer takes a READ of several packets for pieces of the size that both use by default.
bool Initiator::reads_whole(const TxMessage& m, PeerId peer) const {
  const uint32_t own = core_.config.payload_mtu;
  return m.mtu == own && (*core_.peers)[peer].implied_payload(own) == own;
}

Result<void> Initiator::take_memory(Endpoint& ep, TxMessage& m, std::span<const IoSlice> iov,
                                    uint32_t flags) {
  if ((flags & kOpRetain) != 0 && retain_memory(ep, m, iov)) return {};
  if ((flags & kOpInject) != 0) return copy_memory(m, iov);
  UET_CHECK(m.memory.assign(iov, core_.long_iovs));
  if (m.memory.bytes() <= kMaxMessageBytes) return {};
  m.memory.release(core_.long_iovs);
  return Errc::too_long;
}

Result<void> Initiator::copy_memory(TxMessage& m, std::span<const IoSlice> iov) {
  const uint64_t bytes = UET_TRY(total_bytes(iov));
  if (bytes > kInjectBytes) return Errc::too_long;
  m.copy = inject_.take(bytes);
  if (m.copy == nullptr) return Errc::again;
  gather(iov, m.copy);
  m.memory.assign(IoSlice{m.copy, bytes});
  copies_.add(bytes);
  return {};
}

// Copies the payload if it is short enough and there is room for it; then the user need not wait.
// [LF-136]
bool Initiator::retain_memory(Endpoint& ep, TxMessage& m, std::span<const IoSlice> iov) {
  const Result<uint64_t> bytes = total_bytes(iov);
  if (!bytes.ok() || *bytes > kRetainBytes || *bytes >= core_.config.rendezvous_bytes) return false;
  m.is_in_room = *bytes > InjectStore::kShortBytes;
  m.copy = m.is_in_room ? ep.retained.take(*core_.arena, *bytes) : inject_.take(*bytes);
  if (m.copy == nullptr) {
    m.is_in_room = false;
    core_.counters.add(Counter::tx_retain_no_room);
    return false;
  }
  gather(iov, m.copy);
  m.memory.assign(IoSlice{m.copy, *bytes});
  m.is_retained = true;
  copies_.add(*bytes);
  core_.counters.add(Counter::tx_retained);
  return true;
}

void Initiator::give_back_memory(TxMessage& m) {
  if (m.copy != nullptr) give_back_copy(m);
  m.memory.release(core_.long_iovs);
  m.result.release(core_.long_iovs);
  if (m.exposure != nullptr) conceal(m);
}

void Initiator::give_back_copy(TxMessage& m) {
  const uint64_t bytes = m.memory.bytes();
  copies_.remove(bytes);
  if (m.is_in_room) {
    core_.endpoint(m.endpoint)->retained.give_back(m.copy);
  } else {
    inject_.give_back(m.copy, bytes);
  }
  m.copy = nullptr;
}

Taken Initiator::post(Endpoint& ep, TxMessage& m) {
  core_.counters.add(Counter::tx_messages);
  ++ep.tx_open;
  m.sequence = ep.next_sequence++;
  ep.operations.push_back(m);
  Remote& to = *m.remote;
  to.leave_idle();
  const bool must_wait =
      !to.held.empty() || to.is_recovering || (m.is_fenced && to.in_flight + to.exposed != 0);
  if (must_wait) {
    m.state = TxMessage::State::held;
    to.held.push_back(m);
    if (m.is_fenced) core_.pds->want_answers(to.flow->id, core_.now);
  } else {
    release(m);
  }
  return m.is_retained ? Taken::retained : Taken::posted;
}

// One of SES itself: on RUD and without a fence, so nothing holds it back.
void Initiator::post_internal(Endpoint& ep, Remote& to, TxMessage& m) {
  UET_ASSERT(m.is_internal() && !to.is_ordered && to.held.empty());
  m.handle = messages_.handle(&m).word();
  m.remote = &to;
  m.flow = to.flow;
  m.endpoint = ep.id;
  m.initiator = ep.name.initiator_id;
  m.sequence = ep.next_sequence++;
  ep.operations.push_back(m);
  to.leave_idle();
  release(m);
}

// Hands the message to its flow; PDS will call start.
void Initiator::release(TxMessage& m) {
  ++m.remote->in_flight;
  m.state = TxMessage::State::queued;
  m.flow->queue.push_back(m);
  core_.pds->ready(m.flow->id);
}

// Releases what no fence and no recovery holds back any more. [LF-060, SES-029]
void Initiator::release_held(Remote& remote) {
  while (!remote.is_recovering) {
    TxMessage* m = remote.held.front();
    if (m == nullptr || (m->is_fenced && remote.in_flight + remote.exposed != 0)) return;
    static_cast<ListNode<QueueTag>*>(m)->unlink();
    release(*m);
  }
}

// Puts a message that must be sent again among the held ones, at its place in posting order.
void Initiator::hold_in_order(TxMessage& m) {
  Remote& remote = *m.remote;
  m.state = TxMessage::State::held;
  for (TxMessage& later : remote.held) {
    if (later.sequence < m.sequence) continue;
    remote.held.insert_before(later, m);
    return;
  }
  remote.held.push_back(m);
}

// The message leaves its remote: operations behind it may go.
void Initiator::leave_remote(TxMessage& m) {
  Remote& remote = *m.remote;
  UET_ASSERT(remote.in_flight != 0);
  --remote.in_flight;
}

// Ends what belongs to one attempt to send: its ID, its hold on the PDC and its timer.
void Initiator::end_attempt(TxMessage& m) {
  if (m.owes_message_done) core_.pds->message_done(m.pdc);
  if (m.id.value() != 0) {
    core_.ids.give_back(m.id);
    wake_starved();
  }
  end_read(m);
  core_.timers.cancel(m.timer);
}

// The same for a message that will be sent again.
void Initiator::forget_attempt(TxMessage& m) {
  end_attempt(m);
  m.id = MessageId(0);
  m.pdc = pds::PdcHandle(0);
  m.owes_message_done = m.is_stopped = m.is_fully_pulled = false;
  m.has_semantic_answer = m.was_aborted = m.any_undelivered = false;
  m.all_undelivered = true;
  m.next_offset = m.pulled_packets = m.answered_packets = m.failed_packets = m.data_bytes = 0;
  m.code = wire::ReturnCode::null;
  m.failure = pds::Failure{};
  if (m.deferral != nullptr) m.deferral->is_deferred = m.deferral->is_closed = false;
}

// Gives back what a read counts for at its flow, where the next one may wait.
void Initiator::end_read(TxMessage& m) {
  if (m.read_packets == 0) return;
  Flow& flow = *m.flow;
  UET_ASSERT(flow.read_packets >= m.read_packets);
  flow.read_packets -= std::exchange(m.read_packets, 0);
  flow.last_read_failed = m.data_bytes < m.expected_bytes();
  if (!flow.queue.empty()) core_.pds->ready(flow.id);
}

// Tells the user. From here on the user's memory is not touched.
void Initiator::report(TxMessage& m, Completion::Status status) {
  UET_ASSERT(m.state != TxMessage::State::ended);
  if (m.is_internal()) {
    static_cast<ListNode<OwnedTag>&>(m).unlink();
    m.state = TxMessage::State::ended;
    give_back_memory(m);
    return m.pull != 0 ? report_rest(m, status) : report_restart(m, status);
  }
  if (m.deferral != nullptr) forget_token(m);
  Completion done;
  done.kind = m.kind;
  done.context = m.context;
  done.bytes = status == Completion::Status::ok ? m.memory.bytes() : 0;
  done.tag = m.kind == OpKind::tagged_send ? m.match_bits : 0;
  done.status = status;
  done.was_retained = m.is_retained;
  done.code = m.code;
  done.failure = m.failure;
  done.local_error = m.local_error;
  done.peer = m.remote->key.peer;
  const bool is_ok = status == Completion::Status::ok;
  core_.counters.add(is_ok ? Counter::tx_completed : Counter::tx_failed);
  if (m.is_retained && !is_ok) core_.counters.add(Counter::tx_retained_lost);

  Endpoint* ep = core_.endpoint(m.endpoint);
  UET_ASSERT(ep != nullptr && ep->tx_open != 0);
  --ep->tx_open;
  static_cast<ListNode<OwnedTag>&>(m).unlink();
  m.state = TxMessage::State::ended;
  give_back_memory(m);
  if (ep->tx.complete != nullptr) ep->tx.complete(ep->tx.owner, done);
}

void Initiator::free(TxMessage& m) {
  Remote& remote = *m.remote;
  end_attempt(m);
  if (m.state != TxMessage::State::ended) give_back_memory(m);  // else report() did
  if (m.exposure != nullptr) exposures_.free(m.exposure);
  if (m.deferral != nullptr) deferrals_.free(m.deferral);
  Flow* const via = m.flow;
  messages_.free(&m);
  if (via != remote.flow && via != nullptr) leave_flow(*via);  // that of RUDI
  release_held(remote);
  const bool is_done = remote.in_flight + remote.exposed == 0 && remote.held.empty();
  if (is_done && !remote.is_idle()) rest(remote);
}

// Ends an operation before its time: cancel, close, local fault. What PDS still asks of it is
// answered without its memory. [SES-105, PDS-182]
void Initiator::stop(TxMessage& m, Completion::Status status) {
  const TxMessage::State was = m.state;
  report(m, status);
  m.is_stopped = true;
  if (was == TxMessage::State::started) {
    settle(m);
    return;
  }
  if (was == TxMessage::State::exposed) {
    --m.remote->exposed;
    free(m);
    return;
  }
  static_cast<ListNode<QueueTag>&>(m).unlink();
  if (was != TxMessage::State::held) leave_remote(m);
  end_recovery_wait(*m.remote);
  free(m);
}

bool Initiator::cancel(Endpoint& ep, void* op_context) {
  for (TxMessage& m : ep.operations) {
    const bool is_unread = m.state == TxMessage::State::exposed && m.exposure->served == 0;
    if (m.context.op != op_context || m.is_internal() || m.is_retained) continue;
    if (m.is_fully_pulled && !is_unread) continue;
    stop(m, Completion::Status::cancelled);
    return true;
  }
  return false;
}

void Initiator::close(Endpoint& ep) {
  while (TxMessage* m = ep.operations.front()) stop(*m, Completion::Status::aborted);
}

void Initiator::on_send_failed(uint32_t cookie, int error) {
  if (ReturnMessage* r = return_message(pds::MessageHandle(cookie))) {
    // The resend tells the initiator. [SES-164, LF-141]
    if (error == EMSGSIZE) return cut(*r);
    r->is_unreadable = true;
    return;
  }
  TxMessage* m = message(pds::MessageHandle(cookie));
  if (m == nullptr) return;
  if (error == EMSGSIZE && m->id.value() != 0) m->is_cut = true;  // what goes again of it passes
  if (m->state == TxMessage::State::ended) return;
  if (error == EMSGSIZE) return end_too_long(*m);
  m->local_error = error;
  stop(*m, Completion::Status::fault);
}

void Initiator::wake_starved() {
  if (!is_starved_) return;
  is_starved_ = false;
  flows_.for_each([&](Flow& flow) {
    if (!flow.queue.empty()) core_.pds->ready(flow.id);
  });
}

void Initiator::on_timer(TimerNode& node) {
  if (node.kind() == kSweepTimer) return forget_long_idle();
  if (node.kind() == Remote::kRemoteTimer) {
    Remote& remote = owner_of(node, &Remote::timer);
    remote.is_recovering = false;
    release_held(remote);
    return;
  }
  TxMessage& m = owner_of(node, &TxMessage::timer);
  if (m.state == TxMessage::State::waiting) {
    --m.remote->in_flight;  // release counts it again
    release(m);
    return;
  }
  if (m.state == TxMessage::State::exposed) {
    on_unread(m);
  } else if (m.state == TxMessage::State::deferred) {
    begin_again(m);
  } else {
    expire_read(m);
  }
}

}  // namespace uet::ses
