// Routing between users, PDS and the two halves of SES.
#include "ses/ses.h"

#include "wire/payload_mtu.h"

#include <algorithm>
#include <cerrno>

namespace uet::ses {
namespace {

bool is_legal_config(const Config& c) {
  const bool mtu = wire::is_payload_mtu(c.payload_mtu);  // [SES-032]
  return mtu && c.ack_data_bytes_max <= pds::kMaxAckSesBytes - wire::ResponseData::kSize &&
         c.retry_time_min <= c.retry_time_max && c.rx_messages != 0 &&
         c.rx_messages <= UINT16_MAX && c.restarts <= UINT16_MAX &&
         c.rendezvous_reads <= UINT16_MAX && c.return_messages != 0 && c.unexpected_messages != 0 &&
         c.restarts != 0 && c.deferral_time > Duration::zero();
}

}  // namespace

Result<Ses*> Ses::create(Arena& arena, const Config& config, pds::PeerTable& peers, uint64_t seed) {
  if (!is_legal_config(config)) return Errc::invalid;
  Ses* ses = arena.make<Ses>(arena, config, peers, seed);
  if (ses == nullptr) return Errc::no_memory;
  Rng split(seed, 4);
  UET_CHECK(ses->res_.create());
  const uint32_t regions = config.memory_regions + config.rendezvous_sends;
  UET_CHECK(ses->memory_.create(arena, regions, split.u64()));
  UET_CHECK(ses->endpoints_.create(split));
  UET_CHECK(ses->outgoing_.create(seed));
  UET_CHECK(ses->answers_.create());
  UET_CHECK(ses->incoming_.create(seed));
  return ses;
}

Result<ReceiveQueueId> Ses::open_shared(uint32_t rx_size) {
  return endpoints_.open_shared(rx_size);
}

void Ses::close_shared(ReceiveQueueId id, Instant now) {
  ReceiveQueue& queue = at(id, now);
  UET_ASSERT(queue.is_shared && queue.endpoints.empty());
  incoming_.delivery().close(queue);
  endpoints_.close(queue);
}

Result<EndpointId> Ses::open_endpoint(const EndpointName& name, const EndpointOptions& options,
                                      CompletionSink tx, CompletionSink rx) {
  return endpoints_.open_endpoint(name, options, tx, rx);
}

void Ses::close_endpoint(EndpointId id, Instant now) {
  Endpoint& ep = at(id, now);
  while (outgoing_.abort_next(ep)) pass_ends();
  incoming_.delivery().close(ep);
  endpoints_.close(ep);
}

Endpoint& Ses::at(EndpointId id, Instant now) {
  res_.now = now;
  Endpoint* ep = endpoints_.get(id);
  UET_ASSERT(ep != nullptr);
  return *ep;
}

ReceiveQueue& Ses::at(ReceiveQueueId id, Instant now) {
  res_.now = now;
  ReceiveQueue* queue = endpoints_.get(id);
  UET_ASSERT(queue != nullptr);
  return *queue;
}

Result<Taken> Ses::send(EndpointId id, const SendRequest& request, Instant now) {
  return outgoing_.posting().send(at(id, now), request);
}

Result<Taken> Ses::rma(EndpointId id, const RmaRequest& request, Instant now) {
  return outgoing_.posting().rma(at(id, now), request);
}

Result<Taken> Ses::atomic(EndpointId id, const AtomicRequest& request, Instant now) {
  return outgoing_.posting().atomic(at(id, now), request);
}

Result<void> Ses::receive(EndpointId id, const ReceiveRequest& request, Instant now) {
  return incoming_.delivery().receive(*at(id, now).queue, request);
}

Result<void> Ses::receive(ReceiveQueueId id, const ReceiveRequest& request, Instant now) {
  return incoming_.delivery().receive(at(id, now), request);
}

bool Ses::cancel(EndpointId id, void* op_context, Instant now) {
  Endpoint& ep = at(id, now);
  const bool has_own = !ep.queue->is_shared;
  return (has_own && incoming_.delivery().cancel(*ep.queue, op_context).ok()) ||
         outgoing_.cancel(ep, op_context);
}

Result<void> Ses::cancel(ReceiveQueueId id, void* op_context, Instant now) {
  return incoming_.delivery().cancel(at(id, now), op_context);
}

Peeked Ses::peek(EndpointId id, const ReceiveRequest& filter, bool claim, Instant now) {
  return incoming_.kept().peek(*at(id, now).queue, filter, claim);
}

Result<void> Ses::receive_claimed(EndpointId id, uint32_t claim, const ReceiveRequest& request,
                                  Instant now) {
  return incoming_.delivery().receive_claimed(*at(id, now).queue, claim, request);
}

Result<void> Ses::receive_claimed(ReceiveQueueId id, uint32_t claim, const ReceiveRequest& request,
                                  Instant now) {
  return incoming_.delivery().receive_claimed(at(id, now), claim, request);
}

bool Ses::discard_claimed(EndpointId id, uint32_t claim, Instant now) {
  return incoming_.delivery().discard_claimed(*at(id, now).queue, claim);
}

Result<EndpointId> Ses::claimed_from(ReceiveQueueId id, uint32_t claim) {
  const ReceiveQueue* const queue = endpoints_.get(id);
  UET_ASSERT(queue != nullptr);
  const UnexpectedMessage* const u = incoming_.kept().claimed(*queue, claim);
  if (u == nullptr) return Errc::not_found;
  return EndpointId(u->endpoint);
}

void Ses::on_send_failed(uint32_t cookie, int error, Instant now) {
  res_.now = now;
  const pds::MessageHandle message(cookie);
  if (!ReadAnswers::is_one(message)) {
    outgoing_.on_send_failed(message, error);
    return pass_ends();
  }
  if (error != EMSGSIZE) return answers_.on_unreadable(message);
  outgoing_.on_answer_cut(answers_.cut(message));
}

void Ses::on_path_lowered(PeerId peer, Instant now) {
  res_.now = now;
  answers_.cut_longer(peer, res_.payload_toward(peer),
                      [&](const AnswerEnd& cut) { outgoing_.on_answer_cut(cut); });
  outgoing_.on_path_lowered(peer);
  pass_ends();
}

bool Ses::shorten(const pds::PacketRef& ref) {
  if (ReadAnswers::is_one(ref.message)) {
    outgoing_.on_answer_cut(answers_.cut(ref.message));
    return true;
  }
  const bool is_short = outgoing_.shorten(ref);
  pass_ends();
  return is_short;
}

void Ses::forget(PeerId peer, Instant now) {
  res_.now = now;
  outgoing_.forget_peer(peer);
}

void Ses::advance(Instant now) {
  res_.now = now;
  res_.timers.expire(now, [&](TimerNode& node) {
    outgoing_.on_timer(node);
    pass_ends();
  });
  incoming_.advance();
}

Instant Ses::next_deadline() const {
  return std::min(res_.timers.next_deadline(), incoming_.next_deadline());
}

bool Ses::idle() const { return outgoing_.idle() && answers_.idle() && incoming_.idle(); }

bool Ses::start(pds::FlowId flow, pds::PdcHandle pdc, pds::StartedMessage& out, Instant now) {
  res_.now = now;
  return outgoing_.start(flow, pdc, out);
}

bool Ses::pull(pds::MessageHandle message, pds::PacketRef& out) {
  if (ReadAnswers::is_one(message)) return answers_.pull(message, out);
  if (outgoing_.pull(message, out)) return true;
  pass_ends();
  return false;
}

void Ses::encode(const pds::PacketRef& ref, wire::Writer& header, TxBatch& batch) {
  if (ReadAnswers::is_one(ref.message)) return answers_.encode(ref, header, batch);
  outgoing_.encode(ref, header, batch);
}

pds::Verdict Ses::on_request(const pds::RxRequest& request, Instant now) {
  res_.now = now;
  if (request.next_hdr == wire::NextHeader::response_data ||
      request.next_hdr == wire::NextHeader::response_data_small) {
    const pds::Verdict verdict = outgoing_.on_return_data(request);
    pass_ends();
    return verdict;
  }
  return incoming_.on_request(request);
}

void Ses::on_response(const pds::PacketRef& ref, const pds::RxResponse& response, Instant now) {
  res_.now = now;
  // Whatever is said of an answer to a READ. [PDS-108]
  if (ReadAnswers::is_one(ref.message)) return outgoing_.on_answer_end(answers_.end(ref.message));
  outgoing_.on_response(ref, response);
  pass_ends();
}

void Ses::on_failed(const pds::PacketRef& ref, const pds::Failure& failure, Instant now) {
  res_.now = now;
  if (!ReadAnswers::is_one(ref.message)) {
    outgoing_.on_failed(ref, failure);
    return pass_ends();
  }
  // A peer that reads keeps the PDC until it has all it wants, so one that closes has it. [SES-075]
  AnswerEnd ended = answers_.end(ref.message);
  if (failure.reason != pds::FailureReason::closed) ended.exposed = 0;
  outgoing_.on_answer_end(ended);
}

void Ses::on_aborted(pds::MessageHandle message, const pds::Failure& failure, Instant now) {
  res_.now = now;
  if (!ReadAnswers::is_one(message)) {
    outgoing_.on_aborted(message, failure);
    return pass_ends();
  }
  AnswerEnd ended = answers_.end(message);
  ended.exposed = 0;  // it did not leave
  outgoing_.on_answer_end(ended);
}

JobId Ses::job_of(std::span<const std::byte> ses) const {
  if (ses.size() < wire::RequestCommon::kSize) return {};
  return wire::RequestCommon::read(ses.data()).job_id;
}

bool Ses::has_open_message(pds::PdcHandle pdc) const { return incoming_.has_open_message(pdc); }

void Ses::on_pdc_closed(pds::PdcHandle pdc, PeerId, bool, Instant now) {
  res_.now = now;
  outgoing_.on_pdc_closed(pdc);
  pass_ends();
  incoming_.on_pdc_closed(pdc);
}

}  // namespace uet::ses
