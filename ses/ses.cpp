// The face of the semantic sublayer.
#include "ses/ses.h"

#include "wire/payload_mtu.h"

#include <algorithm>

namespace uet::ses {
namespace {

bool is_legal_config(const Config& c) {
  const bool mtu = wire::is_payload_mtu(c.payload_mtu);  // [SES-032]
  return mtu && c.ack_data_bytes_max <= pds::kMaxAckSesBytes - wire::ResponseData::kSize &&
         c.retry_time_min <= c.retry_time_max && c.rx_messages != 0 &&
         c.rx_messages <= UINT16_MAX && c.restarts <= UINT16_MAX &&
         c.rendezvous_reads <= UINT16_MAX && c.return_messages != 0 &&
         c.unexpected_messages != 0 && c.restarts != 0 && c.deferral_time > Duration::zero();
}

bool is_legal_name(const EndpointName& name) {
  constexpr uint32_t kJobMax = (1u << 24) - 1;
  constexpr uint32_t kTwelveBits = (1u << 12) - 1;
  return name.job.value() != 0 && name.job.value() <= kJobMax &&  // [SES-005]
         name.pid.value() <= kTwelveBits && name.ri.value() != 0 &&
         name.ri.value() <= kTwelveBits;  // RI 0 is reserved [SES-007]
}

}  // namespace

Result<Ses*> Ses::create(Arena& arena, const Config& config, pds::PeerTable& peers, uint64_t seed) {
  if (!is_legal_config(config)) return Errc::invalid;
  Ses* ses = arena.make<Ses>(arena, config, peers, seed);
  if (ses == nullptr) return Errc::no_memory;
  UET_CHECK(ses->core_.create(seed));
  UET_CHECK(ses->initiator_.create(seed));
  UET_CHECK(ses->target_.create(seed));
  return ses;
}

// A closed one, or a new one, which stays closed until it is used.
Result<Endpoint*> Ses::endpoint_slot() {
  if (Endpoint* const closed = core_.free_endpoints.front()) return closed;
  if (core_.endpoint_count == core_.endpoints.size()) return Errc::again;
  Endpoint* ep = core_.arena->make<Endpoint>();
  if (ep == nullptr) return Errc::no_memory;
  ep->id = EndpointId(core_.endpoint_count);
  core_.endpoints[core_.endpoint_count++] = ep;
  core_.free_endpoints.push_back(*ep);
  return ep;
}

// The same. Tables are never given back, so an application that opens and closes endpoints takes
// memory only once.
Result<ReceiveQueue*> Ses::queue_slot() {
  if (ReceiveQueue* const closed = core_.free_queues.front()) return closed;
  if (core_.queue_count == core_.queues.size()) return Errc::again;
  ReceiveQueue* queue = core_.arena->make<ReceiveQueue>();
  if (queue == nullptr) return Errc::no_memory;
  UET_CHECK(queue->untagged.create(*core_.arena, core_.rng.u64()));
  UET_CHECK(queue->tagged.create(*core_.arena, core_.rng.u64()));
  queue->id = ReceiveQueueId(core_.queue_count);
  core_.queues[core_.queue_count++] = queue;
  core_.free_queues.push_back(*queue);
  return queue;
}

Result<ReceiveQueue*> Ses::open_queue(uint32_t rx_size, bool is_shared) {
  ReceiveQueue* queue = UET_TRY(queue_slot());
  core_.free_queues.erase(*queue);
  for (const bool tagged : {false, true}) queue->matcher(tagged).expect(rx_size);
  queue->id = ReceiveQueueId(queue->id.value() + (1u << kQueueIndexBits));  // old handles are stale
  queue->is_open = true;
  queue->is_shared = is_shared;
  queue->size = rx_size;
  return queue;
}

Result<ReceiveQueueId> Ses::open_shared(uint32_t rx_size) {
  if (rx_size == 0) return Errc::invalid;
  return UET_TRY(open_queue(rx_size, true))->id;
}

void Ses::close_shared(ReceiveQueueId id, Instant now) {
  ReceiveQueue& queue = at(id, now);
  UET_ASSERT(queue.is_shared && queue.endpoints.empty());
  target_.close(queue);
  close_queue(queue);
}

void Ses::close_queue(ReceiveQueue& queue) {
  UET_ASSERT(queue.open == 0);
  queue.is_open = false;
  core_.free_queues.push_front(queue);
}

Result<EndpointId> Ses::open_endpoint(const EndpointName& name, const EndpointOptions& options,
                                      CompletionSink tx, CompletionSink rx) {
  const bool shares = options.shared.value() != 0;
  if (!is_legal_name(name) || options.tx_size == 0) return Errc::invalid;
  if (shares ? core_.queue(options.shared) == nullptr : options.rx_size == 0) return Errc::invalid;
  if (core_.find_endpoint(name.absolute, name.job, name.pid, name.ri) != nullptr) {
    return Errc::exists;
  }
  Endpoint* ep = UET_TRY(endpoint_slot());
  ep->queue = shares ? core_.queue(options.shared) : UET_TRY(open_queue(options.rx_size, false));
  core_.free_endpoints.erase(*ep);
  ep->queue->endpoints.push_back(*ep);
  ep->id = EndpointId(ep->id.value() + (1u << kEndpointIndexBits));  // old handles are stale
  ep->is_open = true;
  ep->name = name;
  ep->options = options;
  ep->tx = tx;
  ep->rx = rx;
  ep->untagged_generation = ep->tagged_generation = Generation{};
  core_.publish(*ep);
  return ep->id;
}

void Ses::close_endpoint(EndpointId id, Instant now) {
  Endpoint& ep = at(id, now);
  initiator_.close(ep);
  target_.close(ep);
  UET_ASSERT(ep.tx_open == 0 && ep.deferred == 0);
  static_cast<ListNode<SharerTag>&>(ep).unlink();
  if (!ep.queue->is_shared) close_queue(*ep.queue);
  ep.queue = nullptr;
  core_.withdraw(ep);
  ep.is_open = false;
  core_.free_endpoints.push_front(ep);
}

Endpoint& Ses::at(EndpointId id, Instant now) {
  core_.now = now;
  Endpoint* ep = core_.endpoint(id);
  UET_ASSERT(ep != nullptr);
  return *ep;
}

ReceiveQueue& Ses::at(ReceiveQueueId id, Instant now) {
  core_.now = now;
  ReceiveQueue* queue = core_.queue(id);
  UET_ASSERT(queue != nullptr);
  return *queue;
}

Result<Taken> Ses::send(EndpointId id, const SendRequest& request, Instant now) {
  return initiator_.send(at(id, now), request);
}

Result<Taken> Ses::rma(EndpointId id, const RmaRequest& request, Instant now) {
  return initiator_.rma(at(id, now), request);
}

Result<Taken> Ses::atomic(EndpointId id, const AtomicRequest& request, Instant now) {
  return initiator_.atomic(at(id, now), request);
}

Result<void> Ses::receive(EndpointId id, const ReceiveRequest& request, Instant now) {
  return target_.receive(*at(id, now).queue, request);
}

Result<void> Ses::receive(ReceiveQueueId id, const ReceiveRequest& request, Instant now) {
  return target_.receive(at(id, now), request);
}

bool Ses::cancel(EndpointId id, void* op_context, Instant now) {
  Endpoint& ep = at(id, now);
  const bool has_own = !ep.queue->is_shared;
  return (has_own && target_.cancel(*ep.queue, op_context).ok()) ||
         initiator_.cancel(ep, op_context);
}

Result<void> Ses::cancel(ReceiveQueueId id, void* op_context, Instant now) {
  return target_.cancel(at(id, now), op_context);
}

Peeked Ses::peek(EndpointId id, const ReceiveRequest& filter, bool claim, Instant now) {
  return target_.peek(*at(id, now).queue, filter, claim);
}

Result<void> Ses::receive_claimed(EndpointId id, uint32_t claim, const ReceiveRequest& request,
                                  Instant now) {
  return target_.receive_claimed(*at(id, now).queue, claim, request);
}

Result<void> Ses::receive_claimed(ReceiveQueueId id, uint32_t claim, const ReceiveRequest& request,
                                  Instant now) {
  return target_.receive_claimed(at(id, now), claim, request);
}

bool Ses::discard_claimed(EndpointId id, uint32_t claim, Instant now) {
  return target_.discard_claimed(*at(id, now).queue, claim);
}

Result<EndpointId> Ses::claimed_from(ReceiveQueueId id, uint32_t claim) {
  const ReceiveQueue* const queue = core_.queue(id);
  UET_ASSERT(queue != nullptr);
  const Endpoint* const ep = target_.claimed_from(*queue, claim);
  if (ep == nullptr) return Errc::not_found;
  return ep->id;
}

void Ses::on_send_failed(uint32_t cookie, int error, Instant now) {
  core_.now = now;
  initiator_.on_send_failed(cookie, error);
}

void Ses::on_path_lowered(PeerId peer, Instant now) {
  core_.now = now;
  initiator_.on_path_lowered(peer);
}

bool Ses::shorten(const pds::PacketRef& ref) { return initiator_.shorten(ref); }

void Ses::forget(PeerId peer, Instant now) {
  core_.now = now;
  initiator_.forget_peer(peer);
}

void Ses::advance(Instant now) {
  core_.now = now;
  core_.timers.expire(now, [&](TimerNode& node) { initiator_.on_timer(node); });
  target_.advance();
}

Instant Ses::next_deadline() const {
  return std::min(core_.timers.next_deadline(), target_.next_deadline());
}

bool Ses::idle() const { return initiator_.idle() && target_.idle(); }

bool Ses::start(pds::FlowId flow, pds::PdcHandle pdc, pds::StartedMessage& out, Instant now) {
  core_.now = now;
  return initiator_.start(flow, pdc, out);
}

bool Ses::pull(pds::MessageHandle message, pds::PacketRef& out) {
  return initiator_.pull(message, out);
}

void Ses::encode(const pds::PacketRef& ref, wire::Writer& header, TxBatch& batch) {
  initiator_.encode(ref, header, batch);
}

pds::Verdict Ses::on_request(const pds::RxRequest& request, Instant now) {
  core_.now = now;
  return target_.on_request(request);
}

void Ses::on_response(const pds::PacketRef& ref, const pds::RxResponse& response, Instant now) {
  core_.now = now;
  initiator_.on_response(ref, response);
}

void Ses::on_failed(const pds::PacketRef& ref, const pds::Failure& failure, Instant now) {
  core_.now = now;
  initiator_.on_failed(ref, failure);
}

void Ses::on_aborted(pds::MessageHandle message, const pds::Failure& failure, Instant now) {
  core_.now = now;
  initiator_.on_aborted(message, failure);
}

JobId Ses::job_of(std::span<const std::byte> ses) const {
  if (ses.size() < wire::RequestCommon::kSize) return {};
  return wire::RequestCommon::read(ses.data()).job_id;
}

bool Ses::has_open_message(pds::PdcHandle pdc) const { return target_.has_open_message(pdc); }

void Ses::on_pdc_closed(pds::PdcHandle pdc, PeerId, bool, Instant now) {
  core_.now = now;
  initiator_.on_pdc_closed(pdc);
  target_.on_pdc_closed(pdc);
}

}  // namespace uet::ses
