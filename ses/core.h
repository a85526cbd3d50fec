// What both halves of SES share: configuration, PDS below, endpoints, registered memory, IDs and
// timers. No rules here.
#pragma once

#include "ses/config.h"
#include "ses/counters.h"
#include "ses/endpoint.h"
#include "ses/iov.h"
#include "ses/memory/memory_region.h"
#include "ses/outgoing/message.h"
#include "ses/outgoing/message_ids.h"

#include "pds/peer_table.h"
#include "pds/service.h"

#include "base/arena.h"
#include "base/hash_map.h"
#include "base/rng.h"
#include "base/timer_wheel.h"

#include <cstdint>
#include <span>

namespace uet::ses {

// What a request says of the endpoint it is for. The index is 0 where any of the process will do,
// the JobID where the address is absolute. [SES-003]
struct EndpointKey {
  EndpointKey(bool is_absolute, JobId job_id, PidOnFep pid_on_fep, ResourceIndex index)
      : absolute(is_absolute), job(is_absolute ? JobId(0) : job_id), pid(pid_on_fep), ri(index) {}

  bool operator==(const EndpointKey&) const = default;

  bool absolute;
  JobId job;
  PidOnFep pid;
  ResourceIndex ri;
};

inline uint64_t hash_of(const EndpointKey& key, uint64_t seed) {
  const uint64_t process =
      uint64_t{key.job.value()} << 13 | uint64_t{key.pid.value()} << 1 | (key.absolute ? 1U : 0U);
  return hash64(process, key.ri.value(), seed);
}

struct Core {
  Core(Arena& a, const Config& c, pds::PeerTable& p, uint64_t seed)
      : arena(&a), config(c), peers(&p), rng(seed, 1) {}
  Result<void> create(uint64_t seed);

  // The open endpoint with that handle, or null.
  Endpoint* endpoint(EndpointId id);
  // The open queue with that handle, or null.
  ReceiveQueue* queue(ReceiveQueueId id);
  // The open endpoint with that name. [SES-003]
  Endpoint* find_endpoint(bool absolute, JobId job, PidOnFep pid, ResourceIndex ri);

  // Any open endpoint of that process: the small header names no resource index. [SES-008]
  Endpoint* find_process(bool absolute, JobId job, PidOnFep pid);
  // Whether an open endpoint with a relative address is of that job. [SES-111]
  bool is_known(JobId job) const { return endpoints_of_job.find(job.value()) != nullptr; }
  // The endpoint can be found by its name from now on, or not any more.
  void publish(Endpoint& ep);
  void withdraw(Endpoint& ep);

  // How the initiator half tells the target half that a rest was read, by Pull handle.
  struct PullSink {
    void* self = nullptr;
    void (*done)(void* self, uint32_t pull, const Completion& completion) = nullptr;
  };

  // The same for ready-to-restarts, by DeferredMessage handle.
  struct RestartSink {
    void* self = nullptr;
    void (*done)(void* self, uint32_t deferred, const Completion& completion) = nullptr;
  };

  Arena* arena;
  Instant now;  // of the call in progress
  Config config;
  pds::PeerTable* peers;
  pds::Service* pds = nullptr;
  PullSink pulled;
  RestartSink restarted;
  Rng rng;
  Counters counters;
  LongIovs long_iovs;
  Slab<FetchBuffer> fetch_buffers;
  MemoryRegions memory;
  MessageIds ids;
  TimerWheel timers;
  std::span<Endpoint*> endpoints;   // by index; those never opened are null
  std::span<ReceiveQueue*> queues;  // the same
  uint32_t endpoint_count = 0;      // that were ever opened
  uint32_t queue_count = 0;
  // Closed ones, the last first: what they hold is used again, whatever number was open once.
  IntrusiveList<Endpoint, FreeTag> free_endpoints;
  IntrusiveList<ReceiveQueue, FreeQueueTag> free_queues;
  HashMap<EndpointKey, Endpoint*> endpoint_by_name;
  HashMap<EndpointKey, Endpoint*> endpoint_of_process;
  HashMap<uint32_t, uint32_t> endpoints_of_job;  // how many with relative addresses
};

// Index in the low bits, generation above: a handle of a closed endpoint names nothing.
inline constexpr uint32_t kEndpointIndexBits = 12;

inline Endpoint* Core::endpoint(EndpointId id) {
  const uint32_t index = id.value() & ((1u << kEndpointIndexBits) - 1);
  if (index >= endpoints.size() || endpoints[index] == nullptr) return nullptr;
  Endpoint* ep = endpoints[index];
  return ep->is_open && ep->id == id ? ep : nullptr;
}

// The same of queues: each endpoint may have one of its own, and there may be as many shared ones.
inline constexpr uint32_t kQueueIndexBits = kEndpointIndexBits + 1;

inline ReceiveQueue* Core::queue(ReceiveQueueId id) {
  const uint32_t index = id.value() & ((1u << kQueueIndexBits) - 1);
  if (index >= queues.size() || queues[index] == nullptr) return nullptr;
  ReceiveQueue* queue = queues[index];
  return queue->is_open && queue->id == id ? queue : nullptr;
}

}  // namespace uet::ses
