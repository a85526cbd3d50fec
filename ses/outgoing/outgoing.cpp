// Turns messages into packets and handles their answers. A resend is encoded again from the same
// record, which does not change while packets of the attempt are outstanding. [PDS-146]
#include "ses/outgoing/outgoing.h"

#include "ses/outgoing/answer.h"
#include "ses/outgoing/headers.h"

#include "wire/ses.h"

#include <algorithm>
#include <cerrno>

namespace uet::ses {

Result<void> Outgoing::create(uint64_t seed) {
  Rng rng(seed, 3);
  UET_CHECK(operations_.create());
  UET_CHECK(exposures_.create());
  UET_CHECK(flows_.create(rng));
  UET_CHECK(remotes_.create(Operations::internal_max(res_.config), rng));
  UET_CHECK(deferrals_.create(rng));
  return settling_.create(rng);
}

bool Outgoing::cancel(Endpoint& ep, void* op_context) {
  for (TxMessage& m : ep.operations) {
    const bool is_unread = m.state == TxMessage::State::exposed && m.exposure->served == 0;
    if (m.context.op != op_context || m.is_internal() || m.is_retained) continue;
    if (m.is_fully_pulled && !is_unread) continue;
    settling_.stop(m, Completion::Status::cancelled);
    return true;
  }
  return false;
}

void Outgoing::take_back(Endpoint& ep, uint64_t user) {
  for (;;) {
    TxMessage* const m = ep.operations.back();
    if (m == nullptr || m->is_internal() || m->context.user != user) return;
    UET_ASSERT(m->state != TxMessage::State::started);
    settling_.stop(*m, Completion::Status::cancelled);
  }
}

bool Outgoing::abort_next(Endpoint& ep) {
  TxMessage* const m = ep.operations.front();
  if (m == nullptr) return false;
  settling_.stop(*m, Completion::Status::aborted);
  return true;
}

bool Outgoing::start(pds::FlowId id, pds::PdcHandle pdc, pds::StartedMessage& out) {
  Flow* const flow = flows_.find(id);
  if (flow == nullptr) return false;
  TxMessage* const m = order_.next(*flow);
  if (m == nullptr) return false;
  last_header_.forget();
  if (!operations_.begin_attempt(*m, pdc)) {
    flows_.note_starved();
    return false;
  }
  order_.start(*m);
  out.message = pds::MessageHandle(m->handle);
  out.keep_pdc = m->owes_message_done;
  out.is_last = flow->queue.empty();
  return true;
}

bool Outgoing::pull(pds::MessageHandle handle, pds::PacketRef& out) {
  TxMessage* m = operations_.find(handle);
  if (m == nullptr || m->is_fully_pulled) return false;

  if (m->is_stopped) {
    out = {.message = handle, .offset = m->next_offset, .next_hdr = m->header};
    m->is_fully_pulled = true;
    // A target does not track a message on RUDI, so it gets no report of the end. [SES-077]
    if (m->pulled_packets == 0 || m->flow->mode == pds::Mode::rudi) {
      settling_.settle(*m);
      return false;
    }
    out.eom = true;  // MSG_ERROR [SES-105], or the end of what waits [SES-097]
    if (m->deferral != nullptr && m->code == wire::ReturnCode::null) {
      m->deferral->is_closed = m->deferral->is_deferred;
    }
    ++m->pulled_packets;
    out.asks = m->is_read();
    SendOrder::note_pulled(*m, out);
    return true;
  }
  const uint32_t left = m->is_probe ? 0 : m->push_length - m->next_offset;
  const uint32_t length = std::min<uint32_t>(left, m->mtu);  // [SES-016]
  out = {.message = handle,
         .offset = m->next_offset,
         .length = static_cast<uint16_t>(length),
         .next_hdr = m->header,
         .som = m->next_offset == 0,
         .eom = length == left,
         .quiet = m->is_quiet && m->remote->held.empty(),  // a fence waits for it
         .asks = m->is_read()};
  m->next_offset += length;
  m->is_fully_pulled = length == left;
  ++m->pulled_packets;
  SendOrder::note_pulled(*m, out);
  return true;
}

void Outgoing::encode(const pds::PacketRef& ref, wire::Writer& header, TxBatch& batch) {
  const TxMessage* m = operations_.find(ref.message);
  UET_ASSERT(m != nullptr);  // PDS encodes only unanswered packets
  if (m->is_cut) {           // the PSN is filled, by a MSG_ERROR [LF-141]
    encode_header(*m, {.message = ref.message, .offset = ref.offset, .eom = true}, header);
    return;
  }
  if (!last_header_.repeat(*m, ref, header)) {
    encode_header(*m, ref, header);
    last_header_.keep(*m, ref, header.written());
  }
  append_payload(*m, ref, batch);
}

void Outgoing::on_responses(std::span<const pds::PacketRef> refs, const pds::RxResponse& response) {
  const pds::PacketRef& ref = refs.front();
  const auto count = static_cast<uint32_t>(refs.size());
  TxMessage* m = operations_.find(ref.message);
  if (m == nullptr) {
    res_.counters.add(Counter::rx_response_stray, count);
    return;
  }
  UET_ASSERT(m->done_packets() <= m->pulled_packets);
  // An additional answer after a NO_RESPONSE counts for no packet.
  m->answered_packets += std::min(count, m->pulled_packets - m->done_packets());
  const bool answers_msg_error = !ref.som && ref.length == 0;
  if (m->state != TxMessage::State::ended && !answers_msg_error) {
    settling_.note_answer(*m, read_answer(response));
  }
  settling_.settle(*m);
}

pds::Verdict Outgoing::on_return_data(const pds::RxRequest& request) {
  wire::Reader r(request.ses);
  const auto h = wire::ResponseData::parse(r);
  if (request.next_hdr != wire::NextHeader::response_data || !h.ok()) {
    // The data does not name its message. It counts as never received: it is sent again, perhaps
    // whole.
    res_.counters.add(Counter::rx_response_malformed);
    pds::Verdict verdict;
    verdict.kind = pds::Verdict::Kind::drop;
    return verdict;
  }
  const uint32_t holder = res_.ids.holder(h->read_request_message_id);
  TxMessage* m = operations_.find(pds::MessageHandle(holder));
  // Only the PDC that carries the read may answer it.
  if (m == nullptr || m->state != TxMessage::State::started || m->pdc != request.token.pdc ||
      m->remote->key.peer != request.peer || !m->returns_data()) {
    res_.counters.add(Counter::rx_return_refused);
    return pds::Verdict::accepted();
  }
  if (!is_good(h->common.return_code)) {
    settling_.note_error(*m, h->common.return_code, 0);
  } else if (!h->check_sum(r.remaining()).ok()) {
    res_.counters.add(Counter::rx_response_malformed);
    settling_.note_error(*m, wire::ReturnCode::uncor, 0);
  } else if (!take_data(*m, h->message_offset, h->modified_length, r.rest())) {
    res_.counters.add(Counter::rx_return_refused);
    settling_.note_error(*m, wire::ReturnCode::uncor, 0);
  }
  settling_.settle(*m);
  return pds::Verdict::accepted();
}

void Outgoing::on_failed(const pds::PacketRef& ref, const pds::Failure& failure) {
  TxMessage* m = operations_.find(ref.message);
  if (m == nullptr) {
    res_.counters.add(Counter::rx_response_stray);
    return;
  }
  settling_.note_failure(*m, failure);
  ++m->failed_packets;
  settling_.settle(*m);
}

void Outgoing::on_aborted(pds::MessageHandle handle, const pds::Failure& failure) {
  TxMessage* m = operations_.find(handle);
  if (m == nullptr) return;
  if (!m->was_aborted && m->failed_packets == 0) m->failure = failure;
  m->was_aborted = true;
  m->is_fully_pulled = true;
  settling_.settle(*m);
}

void Outgoing::on_send_failed(pds::MessageHandle handle, int error) {
  TxMessage* m = operations_.find(handle);
  if (m == nullptr) return;
  if (error == EMSGSIZE && m->id.value() != 0) m->is_cut = true;  // the resent packets fit
  if (m->state == TxMessage::State::ended) return;
  if (error == EMSGSIZE) return settling_.end_too_long(*m);
  m->local_error = error;
  settling_.stop(*m, Completion::Status::fault);
}

// Messages that have not begun use the smaller payload. Messages with packets in flight that are
// too long end. Reads ask for less when the other end says that its answers are too long. [PDS-250]
void Outgoing::on_path_lowered(PeerId peer) {
  const uint16_t payload = res_.payload_toward(peer);
  operations_.for_each([&](TxMessage& m) {
    if (m.remote == nullptr || m.remote->key.peer != peer || m.mtu <= payload) return;
    switch (m.state) {
      case TxMessage::State::held:
      case TxMessage::State::queued:
      case TxMessage::State::waiting:
      case TxMessage::State::deferred:
        settling_.fit(m);
        break;
      case TxMessage::State::started:
        if (m.is_read() || m.is_probe || m.is_stopped || m.is_fully_pulled) break;
        if (m.push_length - m.next_offset > payload) settling_.end_too_long(m);
        break;
      case TxMessage::State::exposed:  // the target reads the rest, at any time
      case TxMessage::State::ended:
        break;
    }
  });
}

void Outgoing::end_domain(uint32_t sdi) {
  if (res_.jobs == nullptr) return;
  operations_.for_each([&](TxMessage& m) {
    if (m.remote == nullptr || m.state == TxMessage::State::ended) return;
    if (res_.jobs->domain_of(m.remote->key.job) == sdi) settling_.end_without_key(m);
  });
}

// A packet of a message becomes a MSG_ERROR, for which the short headers have no room [SES-105].
bool Outgoing::shorten(const pds::PacketRef& ref) {
  TxMessage* const m = operations_.find(ref.message);
  if (m == nullptr || m->id.value() == 0) return false;
  m->is_cut = true;
  if (m->state != TxMessage::State::ended) settling_.end_too_long(*m);
  return true;
}

bool Outgoing::restart(const Restart& order) {
  const Deferrals::Restarted done = deferrals_.restart(order);
  if (done.again != nullptr) settling_.begin_again(*done.again);
  return done.is_known;
}

void Outgoing::on_answer_end(const AnswerEnd& answer) {
  if (answer.exposed != 0) look_at(exposures_.on_answer_end(answer));
  flows_.wake_starved();  // its message ID is free
}

void Outgoing::on_timer(TimerNode& node) {
  if (node.kind() == Remotes::kSweepTimer) return remotes_.sweep();
  if (node.kind() == Remote::kRemoteTimer) return order_.on_timer(owner_of(node, &Remote::timer));
  settling_.on_timer(owner_of(node, &TxMessage::timer));
}

}  // namespace uet::ses
