// The records of remote endpoints and of the flows that lead to them. Remotes and Flows own them;
// SendOrder writes their queues, holds and counts.
#pragma once

#include "pds/client.h"

#include "base/hash.h"
#include "base/intrusive_list.h"
#include "base/serial.h"
#include "base/time.h"
#include "base/timer_wheel.h"

#include <array>
#include <cstdint>

namespace uet::ses {

struct TxMessage;
struct Remote;

struct FlowKey {
  PeerId peer;
  TrafficClass tc;
  pds::Mode mode{};
  JobId job;
  bool operator==(const FlowKey&) const = default;
};

inline uint64_t hash_of(const FlowKey& k, uint64_t seed) {
  return hash64(uint64_t{k.peer.value()} << 32 | k.job.value(),
                uint64_t{k.tc.value()} << 8 | static_cast<uint8_t>(k.mode), seed);
}

// One key of a flow.
struct FlowName : ListNode<struct NameTag> {
  FlowKey key;
};

// The counterpart of one FlowId of PDS: messages in the order in which they will start.
struct Flow {
  pds::FlowId id;
  pds::Mode mode{};
  bool is_listed = false;  // the ring of its peer's flows
  PeerId peer;
  uint32_t users = 0;            // remotes, and unfinished operations of RUDI; 0: it is given back
  Flow* next_of_peer = nullptr;  // another one toward the same peer
  IntrusiveList<FlowName, NameTag> names;
  IntrusiveList<Remote, struct SiblingTag> remotes;
  IntrusiveList<TxMessage, struct QueueTag> queue;
  uint32_t read_packets = 0;      // of reads that were started and have not ended
  bool last_read_failed = false;  // so the next ones do not wait for each other's time-outs
};

struct RemoteKey {
  uint32_t endpoint = 0;  // EndpointId
  PeerId peer;
  PidOnFep pid;
  ResourceIndex ri;
  bool absolute = false;
  JobId job;                 // of the requests to that endpoint
  bool is_internal = false;  // operations of SES itself: nothing of the user's holds them up

  bool operator==(const RemoteKey&) const = default;
};

inline uint64_t hash_of(const RemoteKey& key, uint64_t seed) {
  const uint64_t name = uint64_t{key.pid.value()} << 17 | uint64_t{key.ri.value()} << 2 |
                        (key.is_internal ? 2U : 0U) | (key.absolute ? 1U : 0U);
  return hash64(uint64_t{key.endpoint} << 32 | key.peer.value(),
                name | uint64_t{key.job.value()} << 34, seed);
}

// State of an endpoint about one remote endpoint: learnt generations, and operations that may not
// start yet. Forgotten when idle for long, when the room is needed, or with its peer.
struct Remote : ListNode<struct IdleTag>, ListNode<SiblingTag> {
  explicit Remote(const RemoteKey& k) : key(k) {}

  bool is_idle() const { return static_cast<const ListNode<IdleTag>&>(*this).is_linked(); }
  void leave_idle() { static_cast<ListNode<IdleTag>&>(*this).unlink(); }

  RemoteKey key;
  Flow* flow = nullptr;
  uint32_t initiator = 0;                // of its requests, as its address says
  std::array<uint8_t, 2> generations{};  // of untagged and tagged messages [SES-071, SES-134]
  bool is_ordered = false;               // ROD
  bool is_unwanted = false;              // its peer was forgotten: it goes when it is idle
  // ROD: an operation must be sent again, so all later ones wait for it. [SES-029]
  bool is_recovering = false;
  Duration recovery_delay;
  Instant idle_since;
  uint32_t in_flight = 0;  // operations released to the flow and not ended
  uint32_t exposed = 0;    // rendezvous sends accepted and not read to their end
  // In order: the read whose segments are not all released; no other operation is released
  // meanwhile. [LF-089]
  TxMessage* in_segments = nullptr;
  // Waiting for a fence, a recovery or those segments, in posting order.
  IntrusiveList<TxMessage, QueueTag> held;
  TimerNode timer{kRemoteTimer};

  static constexpr uint8_t kRemoteTimer = 1;
};

}  // namespace uet::ses
