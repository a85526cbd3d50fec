// Shared state of SES: creation and the look-up of endpoints.
#include "ses/core.h"

#include <utility>

namespace uet::ses {

Result<void> Core::create(uint64_t seed) {
  Rng split(seed, 4);
  UET_CHECK(long_iovs.create(*arena, config.long_iovs));
  UET_CHECK(fetch_buffers.create(*arena, config.fetch_buffers));
  UET_CHECK(memory.create(*arena, config.memory_regions + config.rendezvous_sends, split.u64()));
  UET_CHECK(ids.create(*arena));
  if (config.endpoints == 0 || config.endpoints > 1u << kEndpointIndexBits) return Errc::invalid;
  endpoints = arena->make_span<Endpoint*>(config.endpoints);
  queues = arena->make_span<ReceiveQueue*>(uint64_t{config.endpoints} * 2);
  if (endpoints.empty() || queues.empty()) return Errc::no_memory;
  UET_CHECK(endpoint_by_name.create(*arena, config.endpoints, split.u64()));
  UET_CHECK(endpoint_of_process.create(*arena, config.endpoints, split.u64()));
  return endpoints_of_job.create(*arena, config.endpoints, split.u64());
}

Endpoint* Core::find_endpoint(bool absolute, JobId job, PidOnFep pid, ResourceIndex ri) {
  Endpoint** const found = endpoint_by_name.find({absolute, job, pid, ri});
  return found == nullptr ? nullptr : *found;
}

Endpoint* Core::find_process(bool absolute, JobId job, PidOnFep pid) {
  Endpoint** const found = endpoint_of_process.find({absolute, job, pid, ResourceIndex(0)});
  return found == nullptr ? nullptr : *found;
}

void Core::publish(Endpoint& ep) {
  const EndpointName& n = ep.name;
  const bool is_new = endpoint_by_name.insert({n.absolute, n.job, n.pid, n.ri}, &ep).ok();
  UET_ASSERT(is_new);
  if (!n.absolute) {
    const auto job = endpoints_of_job.insert(n.job.value(), 1);
    if (!job.ok()) ++*endpoints_of_job.find(n.job.value());
  }
  // The first of its process stands for all of them.
  const EndpointKey process{n.absolute, n.job, n.pid, ResourceIndex(0)};
  Endpoint** const found = endpoint_of_process.find(process);
  if (found == nullptr) {
    const bool is_first = endpoint_of_process.insert(process, &ep).ok();
    UET_ASSERT(is_first);
    return;
  }
  Endpoint& first = **found;
  ep.next_of_process = std::exchange(first.next_of_process, &ep);
  ep.previous_of_process = std::exchange(ep.next_of_process->previous_of_process, &ep);
}

void Core::withdraw(Endpoint& ep) {
  const EndpointName& n = ep.name;
  endpoint_by_name.erase({n.absolute, n.job, n.pid, n.ri});
  if (!n.absolute && --*endpoints_of_job.find(n.job.value()) == 0) {
    endpoints_of_job.erase(n.job.value());
  }
  const EndpointKey process{n.absolute, n.job, n.pid, ResourceIndex(0)};
  Endpoint** const first = endpoint_of_process.find(process);
  UET_ASSERT(first != nullptr);
  Endpoint* const other = ep.next_of_process;
  if (other == &ep) {
    endpoint_of_process.erase(process);
    return;
  }
  if (*first == &ep) *first = other;
  other->previous_of_process = ep.previous_of_process;
  ep.previous_of_process->next_of_process = other;
  ep.next_of_process = ep.previous_of_process = &ep;
}

}  // namespace uet::ses
