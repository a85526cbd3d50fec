// The state of a run: each operation with its results so far, and the application on each host with
// its memory. Workload posts, WorkloadJudge judges; both read the scene.
#pragma once

#include "sim/address_book.h"
#include "sim/agenda.h"
#include "sim/local_clock.h"
#include "sim/memory.h"
#include "sim/operations.h"
#include "sim/plan.h"

#include "sim/recording/endpoint.h"
#include "sim/world/clock.h"

#include "base/rng.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace uet::sim {

inline constexpr uint32_t kJob = 77;
inline constexpr uint64_t kReceiveBit = uint64_t{1} << 40;  // in OpContext::user: a receive
inline constexpr uint64_t kWildcardTag = uint64_t{1} << 48;
inline constexpr uint64_t kDecoyTag = uint64_t{1} << 50;
inline constexpr uint64_t kIgnoreId = 0xffff'ffff;

// Wildcard receives match any message of their sender: bit 48 and the process above the id.
inline uint64_t tag_of(const Operation& op) {
  if (op.is_decoy) return kDecoyTag | op.id;
  const uint64_t sender = uint64_t{op.from} << 4 | op.from_process;
  return op.wildcard ? kWildcardTag | sender << 32 | op.id : op.id;
}

struct LiveOperation : Operation {
  explicit LiveOperation(const Operation& chosen) : Operation(chosen) {
    if (is_decoy) posted = done = true;
  }

  // Taken at the post. Most operations return it when they end.
  Memory local;    // the octets to send, or the destination of a read
  Memory landing;  // of the receive with the same index
  Instant posted_at;
  uint32_t post_order = 0;
  uint32_t receive_order = 0;
  bool posted = false;
  bool posted_knowingly = false;  // its initiator knew that the peer had died
  bool receive_posted = false;
  bool cancelled = false;  // its initiator has tried to take it back
  bool done = false;
  bool receive_done = false;
  bool delivered = false;  // some receive got it
  uint32_t landed = 0;     // octets in `landing`
  bool succeeded = false;

  bool wants_receive() const { return !receive_posted && !receive_done; }
};

// The application on one host.
struct Application {
  uint32_t index = 0;
  recording::Endpoint* fep = nullptr;
  LocalClock clock;
  struct Process {
    ses::EndpointId endpoint;
    ses::EndpointName name;
  };
  std::vector<Process> processes;
  ses::ReceiveQueueId shared;  // the receives of all of them; none: each has its own
  ses::EndpointId outsider;    // of a job with no other endpoint
  // RMA target; every operation has a separate range, except atomics, which share the tallies.
  Memory region;
  // The same memory with all rights, also for RUDI, only the one, and none.
  uint64_t key = 0;
  uint64_t safe_key = 0;
  uint64_t read_key = 0;
  uint64_t write_key = 0;
  uint64_t closed_key = 0;
  Agenda agenda;  // by operation id
  Rng rng{0};
  AddressBook others;
  Instant refused_since = Instant::never();  // posts find no room
  bool knows_of_death = false;  // an operation failed because the peer had lost its state
};

struct Scene {
  explicit Scene(const Plan& the_plan) : plan(the_plan) {}

  // Operations may fail, so their receives may never end.
  bool is_lenient() const { return plan.may_fail() || lost != kNobody; }
  Application& initiator(const Operation& op) { return *applications[op.from]; }
  const Application& initiator(const Operation& op) const { return *applications[op.from]; }
  Application& target(const Operation& op) { return *applications[op.to]; }
  const Application& target(const Operation& op) const { return *applications[op.to]; }

  const Plan plan;
  std::vector<std::unique_ptr<Application>> applications;
  std::vector<LiveOperation> operations;  // index = id - 1
  bool keeps_memory = false;              // a recording looks at it until the end
  uint32_t lost = kNobody;                // the endpoint that died
  Instant back_at = Instant::never();     // when another one began at its address
};

}  // namespace uet::sim
