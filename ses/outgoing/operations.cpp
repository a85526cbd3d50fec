// Making, reporting and freeing operations.
#include "ses/outgoing/operations.h"

namespace uet::ses {

Operations::Operations(Resources& res, const Endpoints& endpoints, Flows& flows, SendOrder& order,
                       Exposures& exposures, Deferrals& deferrals)
    : res_(res),
      endpoints_(endpoints),
      flows_(flows),
      order_(order),
      exposures_(exposures),
      deferrals_(deferrals),
      users_max_(std::min(res.config.operations, kMax - internal_max(res.config))),
      payloads_(res, endpoints) {}

Result<void> Operations::create() {
  // Message handles leave one index bit, which marks return messages. Behind the first chunk are
  // fewer unused indices than it has slots.
  const uint32_t internal = internal_max(res_.config);
  const Room room{std::min(64U, users_max_) + internal, users_max_ + internal};
  static_assert(kMax <= (Handle<TxMessage>::kIndexMask + 1) / 4);
  UET_CHECK(messages_.create(*res_.arena, room, Reuse::rested));
  UET_CHECK(ends_.create(*res_.arena, internal));
  return payloads_.create(Room{std::min(64U, users_max_), users_max_}, res_.config.long_injects);
}

Result<TxMessage*> Operations::make(Endpoint& ep, Remote& to, std::span<const IoSlice> iov,
                                    uint32_t flags) {
  TxMessage* m = messages_.alloc();
  if (m == nullptr) return Errc::again;
  const Result<void> taken = payloads_.take(ep, *m, iov, flags);
  if (!taken.ok()) {
    messages_.free(m);
    return taken.error();
  }
  begin(*m, ep, to);
  return m;
}

Result<TxMessage*> Operations::make_internal(Endpoint& ep, Remote& to,
                                             std::span<const IoSlice> iov) {
  TxMessage* m = messages_.alloc();
  if (m == nullptr) return Errc::again;
  const Result<void> taken = m->memory.assign(iov, res_.long_iovs);
  if (!taken.ok()) {
    messages_.free(m);
    return taken.error();
  }
  begin(*m, ep, to);
  return m;
}

// Its memory is known.
void Operations::begin(TxMessage& m, const Endpoint& ep, Remote& to) {
  m.handle = messages_.handle(&m).word();
  m.mtu = res_.payload_toward(to.key.peer);
  m.push_length = m.segment_length = static_cast<uint32_t>(m.memory.bytes());
  m.remote = &to;
  m.flow = to.flow;
  m.endpoint = ep.id;
  m.job = to.key.job;
  m.initiator = ep.name.initiator_id;
}

void Operations::enrol(Endpoint& ep, TxMessage& m) {
  if (!m.is_internal()) {
    res_.counters.add(Counter::tx_messages);
    ++ep.tx_open;
  }
  m.sequence = ep.next_sequence++;
  ep.operations.push_back(m);
}

void Operations::end_attempt(TxMessage& m) {
  if (m.owes_message_done) res_.pds->message_done(m.pdc);
  give_back_id(m);
  order_.end_read(m);
  res_.timers.cancel(m.timer);
}

void Operations::give_back_id(TxMessage& m) {
  if (m.id.value() == 0) return;
  res_.ids.give_back(m.id);
  m.id = MessageId(0);
  flows_.wake_starved();
}

void Operations::forget_attempt(TxMessage& m) {
  end_attempt(m);
  m.pdc = pds::PdcHandle(0);
  m.owes_message_done = m.is_stopped = m.is_fully_pulled = false;
  m.has_semantic_answer = m.was_aborted = m.any_undelivered = false;
  m.all_undelivered = true;
  m.next_offset = m.pulled_packets = m.answered_packets = m.failed_packets = m.data_bytes = 0;
  m.code = wire::ReturnCode::null;
  m.failure = pds::Failure{};
  if (m.deferral != nullptr) Deferrals::forget_attempt(m);
}

void Operations::release_memory(TxMessage& m) {
  payloads_.give_back(m);
  if (m.exposure != nullptr) exposures_.conceal(m);
}

void Operations::report(TxMessage& m, Completion::Status status) {
  UET_ASSERT(m.state != TxMessage::State::ended);
  if (m.is_internal()) return report_internal(m, status);
  if (m.deferral != nullptr) deferrals_.forget_token(m);
  const bool is_ok = status == Completion::Status::ok;
  Completion done;
  done.kind = m.kind;
  done.context = m.context;
  done.bytes = is_ok ? m.memory.bytes() : 0;
  done.tag = m.kind == OpKind::tagged_send ? m.match_bits : 0;
  done.status = status;
  done.was_retained = m.is_retained;
  done.code = m.code;
  done.failure = m.failure;
  done.local_error = m.local_error;
  done.peer = m.remote->key.peer;
  res_.counters.add(is_ok ? Counter::tx_completed : Counter::tx_failed);
  if (m.is_retained && !is_ok) res_.counters.add(Counter::tx_retained_lost);

  Endpoint* ep = endpoints_.get(m.endpoint);
  UET_ASSERT(ep != nullptr && ep->tx_open != 0);
  --ep->tx_open;
  static_cast<ListNode<OwnedTag>&>(m).unlink();
  m.become(TxMessage::State::ended);
  release_memory(m);
  if (ep->tx.complete != nullptr) ep->tx.complete(ep->tx.owner, done);
}

// No user waits for it.
void Operations::report_internal(TxMessage& m, Completion::Status status) {
  static_cast<ListNode<OwnedTag>&>(m).unlink();
  m.become(TxMessage::State::ended);
  release_memory(m);
  ends_.push({.pull = m.pull,
              .restart = m.restart,
              .peer = m.remote->key.peer,
              .status = status,
              .code = m.code});
}

void Operations::free(TxMessage& m) {
  Remote& remote = *m.remote;
  end_attempt(m);
  if (m.state != TxMessage::State::ended) release_memory(m);  // else report() did
  if (m.exposure != nullptr) exposures_.free(m);
  if (m.deferral != nullptr) deferrals_.free(m);
  Flow* const via = m.flow;
  SendOrder::end_segments(m);
  messages_.free(&m);
  if (via != remote.flow && via != nullptr) flows_.leave(*via);  // the timer of RUDI
  order_.on_gone(remote);
}

}  // namespace uet::ses
