// What the parts of the workload share: the endpoint as the workload knows it, and its tags.
// Private to workload*.cpp.
#pragma once

#include "sim/octets.h"
#include "sim/workload.h"

#include <cstring>

namespace uet::sim {

inline constexpr uint32_t kJob = 77;
inline constexpr uint64_t kReceiveBit = uint64_t{1} << 40;  // in OpContext::user: a receive
inline constexpr uint64_t kWildcardTag = uint64_t{1} << 48;
inline constexpr uint64_t kDecoyTag = uint64_t{1} << 50;
inline constexpr uint64_t kIgnoreId = 0xffff'ffff;

inline constexpr uint32_t kTallies = 16;  // numbers at the start of every region, for atomics

// Wildcard receives match any message of their sender: bit 48 and the process above the id.
inline uint64_t tag_of(const Operation& op) {
  if (op.is_decoy) return kDecoyTag | op.id;
  const uint64_t sender = uint64_t{op.from} << 4 | op.from_process;
  return op.wildcard ? kWildcardTag | sender << 32 | op.id : op.id;
}

struct Workload::Host {
  Workload* workload = nullptr;
  uint32_t index = 0;
  recording::Endpoint* fep = nullptr;
  LocalClock clock;
  struct Process {
    ses::EndpointId endpoint;
    ses::EndpointName name;
  };
  std::vector<Process> processes;
  ses::ReceiveQueueId shared;  // the receives of all of them; none: each has its own
  ses::EndpointId outsider;    // of a job that nobody else is in
  // RMA target; every operation has its own range, but for the atomics, which share the tallies.
  std::vector<std::byte> region;
  // The same memory with all rights, also for RUDI, only the one, and none.
  uint64_t key = 0;
  uint64_t safe_key = 0;
  uint64_t read_key = 0;
  uint64_t write_key = 0;
  uint64_t closed_key = 0;
  Agenda agenda;  // by operation id
  Rng rng{0};
  std::vector<PeerId> peers;    // by host index
  bool knows_of_death = false;  // an operation failed because the peer had lost its state
};

}  // namespace uet::sim
