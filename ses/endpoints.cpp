// Opening, closing and finding endpoints and receive queues.
#include "ses/endpoints.h"

#include "ses/outgoing/tx_message.h"

#include <utility>

namespace uet::ses {
namespace {

bool is_legal_name(const EndpointName& name) {
  constexpr uint32_t kJobMax = (1u << 24) - 1;
  constexpr uint32_t kTwelveBits = (1u << 12) - 1;
  return name.job.value() != 0 && name.job.value() <= kJobMax &&  // [SES-005]
         name.pid.value() <= kTwelveBits && name.ri.value() != 0 &&
         name.ri.value() <= kTwelveBits;  // RI 0 is reserved [SES-007]
}

}  // namespace

Result<void> Endpoints::create(Rng& rng) {
  const uint32_t count = res_.config.endpoints;
  if (count == 0 || count > 1u << kIndexBits) return Errc::invalid;
  endpoints_ = res_.arena->make_span<Endpoint*>(count);
  queues_ = res_.arena->make_span<ReceiveQueue*>(uint64_t{count} * 2);
  if (endpoints_.empty() || queues_.empty()) return Errc::no_memory;
  UET_CHECK(by_name_.create(*res_.arena, count, rng.u64()));
  UET_CHECK(by_process_.create(*res_.arena, count, rng.u64()));
  return of_job_.create(*res_.arena, count, rng.u64());
}

// A closed one, or a new one, which stays closed until it is used.
Result<Endpoint*> Endpoints::endpoint_slot() {
  if (Endpoint* const closed = free_endpoints_.front()) return closed;
  if (endpoint_count_ == endpoints_.size()) return Errc::again;
  Endpoint* ep = res_.arena->make<Endpoint>();
  if (ep == nullptr) return Errc::no_memory;
  ep->id = EndpointId(endpoint_count_);
  endpoints_[endpoint_count_++] = ep;
  free_endpoints_.push_back(*ep);
  return ep;
}

// The same. Tables are never given back, so an application that opens and closes endpoints takes
// memory only once.
Result<ReceiveQueue*> Endpoints::queue_slot() {
  if (ReceiveQueue* const closed = free_queues_.front()) return closed;
  if (queue_count_ == queues_.size()) return Errc::again;
  ReceiveQueue* queue = res_.arena->make<ReceiveQueue>();
  if (queue == nullptr) return Errc::no_memory;
  UET_CHECK(queue->untagged.create(*res_.arena, res_.rng.u64()));
  UET_CHECK(queue->tagged.create(*res_.arena, res_.rng.u64()));
  queue->id = ReceiveQueueId(queue_count_);
  queues_[queue_count_++] = queue;
  free_queues_.push_back(*queue);
  return queue;
}

Result<ReceiveQueue*> Endpoints::open_queue(uint32_t rx_size, bool is_shared) {
  ReceiveQueue* queue = UET_TRY(queue_slot());
  free_queues_.erase(*queue);
  for (const bool tagged : {false, true}) queue->matcher(tagged).expect(rx_size);
  queue->id = ReceiveQueueId(queue->id.value() + (1u << kQueueIndexBits));  // old handles are stale
  queue->is_open = true;
  queue->is_shared = is_shared;
  queue->size = rx_size;
  return queue;
}

Result<ReceiveQueueId> Endpoints::open_shared(uint32_t rx_size) {
  if (rx_size == 0) return Errc::invalid;
  return UET_TRY(open_queue(rx_size, true))->id;
}

void Endpoints::close(ReceiveQueue& queue) {
  UET_ASSERT(queue.open == 0 && queue.endpoints.empty());
  queue.is_open = false;
  free_queues_.push_front(queue);
}

Result<EndpointId> Endpoints::open_endpoint(const EndpointName& name,
                                            const EndpointOptions& options, CompletionSink tx,
                                            CompletionSink rx) {
  const bool shares = options.shared.value() != 0;
  if (!is_legal_name(name) || options.tx_size == 0) return Errc::invalid;
  if (shares ? get(options.shared) == nullptr : options.rx_size == 0) return Errc::invalid;
  if (find(name.absolute, name.job, name.pid, name.ri) != nullptr) return Errc::exists;
  Endpoint* ep = UET_TRY(endpoint_slot());
  ep->queue = shares ? get(options.shared) : UET_TRY(open_queue(options.rx_size, false));
  free_endpoints_.erase(*ep);
  ep->queue->endpoints.push_back(*ep);
  ep->id = EndpointId(ep->id.value() + (1u << kIndexBits));  // old handles are stale
  ep->is_open = true;
  ep->name = name;
  ep->options = options;
  ep->tx = tx;
  ep->rx = rx;
  ep->untagged_generation = ep->tagged_generation = Generation{};
  publish(*ep);
  return ep->id;
}

void Endpoints::close(Endpoint& ep) {
  UET_ASSERT(ep.tx_open == 0 && ep.deferred == 0);
  static_cast<ListNode<SharerTag>&>(ep).unlink();
  if (!ep.queue->is_shared) close(*ep.queue);
  ep.queue = nullptr;
  withdraw(ep);
  ep.is_open = false;
  free_endpoints_.push_front(ep);
}

Endpoint* Endpoints::find(bool absolute, JobId job, PidOnFep pid, ResourceIndex ri) const {
  Endpoint* const* const found = by_name_.find({absolute, job, pid, ri});
  return found == nullptr ? nullptr : *found;
}

Endpoint* Endpoints::find_process(bool absolute, JobId job, PidOnFep pid) const {
  Endpoint* const* const found = by_process_.find({absolute, job, pid, ResourceIndex(0)});
  return found == nullptr ? nullptr : *found;
}

// The endpoint can be found by its name from now on.
void Endpoints::publish(Endpoint& ep) {
  const EndpointName& n = ep.name;
  const bool is_new = by_name_.insert({n.absolute, n.job, n.pid, n.ri}, &ep).ok();
  UET_ASSERT(is_new);
  if (!n.absolute) {
    const auto job = of_job_.insert(n.job.value(), 1);
    if (!job.ok()) ++*of_job_.find(n.job.value());
  }
  // The first of its process stands for all of them.
  const EndpointKey process{n.absolute, n.job, n.pid, ResourceIndex(0)};
  Endpoint** const found = by_process_.find(process);
  if (found == nullptr) {
    const bool is_first = by_process_.insert(process, &ep).ok();
    UET_ASSERT(is_first);
    return;
  }
  Endpoint& first = **found;
  ep.next_of_process = std::exchange(first.next_of_process, &ep);
  ep.previous_of_process = std::exchange(ep.next_of_process->previous_of_process, &ep);
}

// Not any more.
void Endpoints::withdraw(Endpoint& ep) {
  const EndpointName& n = ep.name;
  by_name_.erase({n.absolute, n.job, n.pid, n.ri});
  if (!n.absolute && --*of_job_.find(n.job.value()) == 0) of_job_.erase(n.job.value());
  const EndpointKey process{n.absolute, n.job, n.pid, ResourceIndex(0)};
  Endpoint** const first = by_process_.find(process);
  UET_ASSERT(first != nullptr);
  Endpoint* const other = ep.next_of_process;
  if (other == &ep) {
    by_process_.erase(process);
    return;
  }
  if (*first == &ep) *first = other;
  other->previous_of_process = ep.previous_of_process;
  ep.previous_of_process->next_of_process = other;
  ep.next_of_process = ep.previous_of_process = &ep;
}

}  // namespace uet::ses
