// Routing from users to the two halves of SES.
#include "ses/ses.h"

#include "wire/payload_mtu.h"

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

Result<ReceiveQueueId> Ses::open_owned(uint32_t rx_size, ReceiveOwner& owner) {
  const ReceiveQueueId id = UET_TRY(endpoints_.open_shared(rx_size));
  incoming_.owned().add(*endpoints_.get(id), owner);
  return id;
}

void Ses::close_shared(ReceiveQueueId id, Instant now) {
  ReceiveQueue& queue = endpoints_.enter(id, now);
  UET_ASSERT(queue.is_shared && queue.endpoints.empty());
  incoming_.delivery().close(queue);
  incoming_.owned().remove(queue);
  endpoints_.close(queue);
}

Result<EndpointId> Ses::open_endpoint(const EndpointName& name, const EndpointOptions& options,
                                      CompletionSink tx, CompletionSink rx) {
  return endpoints_.open_endpoint(name, options, tx, rx);
}

void Ses::close_endpoint(EndpointId id, Instant now) {
  Endpoint& ep = endpoints_.enter(id, now);
  while (outgoing_.abort_next(ep)) exchange_.pass_ends();
  incoming_.delivery().close(ep);
  endpoints_.close(ep);
}

Result<Taken> Ses::send(EndpointId id, const SendRequest& request, Instant now) {
  return outgoing_.posting().send(endpoints_.enter(id, now), request);
}

Result<Taken> Ses::rma(EndpointId id, const RmaRequest& request, Instant now) {
  return outgoing_.posting().rma(endpoints_.enter(id, now), request);
}

Result<Taken> Ses::atomic(EndpointId id, const AtomicRequest& request, Instant now) {
  return outgoing_.posting().atomic(endpoints_.enter(id, now), request);
}

void Ses::take_back(EndpointId id, uint64_t user, Instant now) {
  outgoing_.take_back(endpoints_.enter(id, now), user);
}

Result<void> Ses::receive(EndpointId id, const ReceiveRequest& request, Instant now) {
  return incoming_.delivery().receive(*endpoints_.enter(id, now).queue, request);
}

Result<void> Ses::receive(ReceiveQueueId id, const ReceiveRequest& request, Instant now) {
  return incoming_.delivery().receive(endpoints_.enter(id, now), request);
}

bool Ses::cancel(EndpointId id, void* op_context, Instant now) {
  Endpoint& ep = endpoints_.enter(id, now);
  const bool has_own = !ep.queue->is_shared;
  return (has_own && incoming_.delivery().cancel(*ep.queue, op_context).ok()) ||
         outgoing_.cancel(ep, op_context);
}

Result<void> Ses::cancel(ReceiveQueueId id, void* op_context, Instant now) {
  return incoming_.delivery().cancel(endpoints_.enter(id, now), op_context);
}

void Ses::forget(PeerId peer, Instant now) {
  res_.now = now;
  outgoing_.forget_peer(peer);
}

void Ses::snapshot(Snapshot& out, Instant now) {
  add_waiting(out, endpoints_, *res_.peers, now);
  incoming_.snapshot(out, now);
}

}  // namespace uet::ses
