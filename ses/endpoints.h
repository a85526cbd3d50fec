// Owns the endpoints and receive queues of this FEP: opens and closes them, and finds the open ones
// by handle and by name.
#pragma once

#include "ses/endpoint.h"
#include "ses/resources.h"

#include "base/assert.h"
#include "base/hash_map.h"
#include "base/prefetch.h"
#include "base/rng.h"

#include <cstdint>
#include <span>

namespace uet::ses {

// The endpoint that a request addresses. The index is 0 if any endpoint of the process will do, the
// JobID is set if the address is absolute. [SES-003]
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

class Endpoints {
 public:
  explicit Endpoints(Resources& res) : res_(res) {}
  Result<void> create(Rng& rng);

  // Set-up acts. Errors as of Ses::open_endpoint and Ses::open_shared.
  Result<EndpointId> open_endpoint(const EndpointName& name, const EndpointOptions& options,
                                   CompletionSink tx, CompletionSink rx);
  Result<ReceiveQueueId> open_shared(uint32_t rx_size);
  // The endpoint has no unfinished operation.
  void close(Endpoint& ep);
  // No endpoint uses it, and nothing is posted.
  void close(ReceiveQueue& queue);

  // A user's call about that endpoint or queue begins now. Asserts that it is open.
  Endpoint& enter(EndpointId id, Instant now) {
    res_.now = now;
    Endpoint* const ep = get(id);
    UET_ASSERT(ep != nullptr);
    return *ep;
  }
  ReceiveQueue& enter(ReceiveQueueId id, Instant now) {
    res_.now = now;
    ReceiveQueue* const queue = get(id);
    UET_ASSERT(queue != nullptr);
    return *queue;
  }
  // The open one with that handle, or null.
  Endpoint* get(EndpointId id) const;
  ReceiveQueue* get(ReceiveQueueId id) const;
  // The open endpoint with that name. [SES-003]
  Endpoint* find(bool absolute, JobId job, PidOnFep pid, ResourceIndex ri) const;
  // Any open endpoint of that process: the small header names no resource index. [SES-008]
  Endpoint* find_process(bool absolute, JobId job, PidOnFep pid) const;
  // Whether an open endpoint with a relative address is of that job. [SES-111]
  bool is_known(JobId job) const { return of_job_.find(job.value()) != nullptr; }

  // Prefetches where the first ones are found; then the first one.
  void prefetch() const { uet::prefetch(endpoints_.data(), kLineBytes); }
  void prefetch_first() const {
    if (!endpoints_.empty()) uet::prefetch(endpoints_.front(), 2 * kLineBytes);
  }

  // Calls fn for each open one.
  template <class Fn>
  void for_each_endpoint(Fn&& fn) const {
    for (Endpoint* const ep : endpoints_) {
      if (ep != nullptr && ep->is_open) fn(*ep);
    }
  }
  template <class Fn>
  void for_each_queue(Fn&& fn) const {
    for (ReceiveQueue* const queue : queues_) {
      if (queue != nullptr && queue->is_open) fn(*queue);
    }
  }

 private:
  // Index in the low bits, generation above: a handle of a closed endpoint names nothing.
  static constexpr uint32_t kIndexBits = 12;
  // The same for queues: one for each endpoint, and as many shared ones.
  static constexpr uint32_t kQueueIndexBits = kIndexBits + 1;

  Result<Endpoint*> endpoint_slot();
  Result<ReceiveQueue*> queue_slot();
  Result<ReceiveQueue*> open_queue(uint32_t rx_size, bool is_shared);
  void publish(Endpoint& ep);
  void withdraw(Endpoint& ep);

  Resources& res_;
  std::span<Endpoint*> endpoints_;   // by index; those never opened are null
  std::span<ReceiveQueue*> queues_;  // the same
  uint32_t endpoint_count_ = 0;      // that were ever opened
  uint32_t queue_count_ = 0;
  // Closed endpoints, the last first: their memory is used again under any number.
  IntrusiveList<Endpoint, FreeTag> free_endpoints_;
  IntrusiveList<ReceiveQueue, FreeQueueTag> free_queues_;
  HashMap<EndpointKey, Endpoint*> by_name_;
  HashMap<EndpointKey, Endpoint*> by_process_;
  HashMap<uint32_t, uint32_t> of_job_;  // how many with relative addresses
};

inline Endpoint* Endpoints::get(EndpointId id) const {
  const uint32_t index = id.value() & ((1u << kIndexBits) - 1);
  if (index >= endpoints_.size() || endpoints_[index] == nullptr) return nullptr;
  Endpoint* const ep = endpoints_[index];
  return ep->is_open && ep->id == id ? ep : nullptr;
}

inline ReceiveQueue* Endpoints::get(ReceiveQueueId id) const {
  const uint32_t index = id.value() & ((1u << kQueueIndexBits) - 1);
  if (index >= queues_.size() || queues_[index] == nullptr) return nullptr;
  ReceiveQueue* const queue = queues_[index];
  return queue->is_open && queue->id == id ? queue : nullptr;
}

}  // namespace uet::ses
