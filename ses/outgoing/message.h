// The records of messages: outgoing requests, read answers on their way back, and multi-packet
// messages being received. States and transitions are in initiator.cpp and target.cpp.
#pragma once

#include "ses/incoming/arrivals.h"
#include "ses/endpoint.h"
#include "ses/iov.h"
#include "ses/memory/memory_region.h"
#include "ses/outgoing/remote.h"
#include "ses/types.h"

#include "base/intrusive_list.h"
#include "base/serial.h"
#include "base/slab.h"
#include "base/time.h"
#include "base/timer_wheel.h"
#include "wire/code_points.h"

#include <array>
#include <cstdint>

namespace uet::ses {

struct TxMessage;
struct Deferral;
struct Exposure;
struct Pull;

// Old values on their way back, which the memory they came from does not hold any more.
struct FetchBuffer {
  static constexpr uint32_t kBytes = 1024;
  std::array<std::byte, kBytes> bytes;
};

// One posted operation of the initiator side. 0 .. 63 is what pull and encode read.
struct TxMessage : ListNode<struct QueueTag>, ListNode<struct OwnedTag> {
  enum class State : uint8_t {
    held,      // in its remote's queue: a fence or a recovery is before it
    queued,    // in its flow's queue
    started,   // PDS pulls its packets or waits for their answers
    waiting,   // was refused; its timer will queue it again
    exposed,   // rendezvous: accepted, the target reads the rest when it likes
    deferred,  // told to wait for a ready-to-restart
    ended,     // reported; packets of it are still out and carry IE
  };
  static constexpr uint8_t kMessageTimer = 0;

  uint32_t handle = 0;  // of its slab
  State state = State::held;
  OpKind kind{};
  wire::SesOpcode opcode{};
  bool is_fenced : 1 = false;
  bool delivery_complete : 1 = false;
  bool has_data : 1 = false;
  bool is_stopped : 1 = false;           // no further packets but a MSG_ERROR
  bool is_fully_pulled : 1 = false;      // PDS will not ask for more
  bool has_semantic_answer : 1 = false;  // some response said OK [SES-149]
  bool owes_message_done : 1 = false;    // keep_pdc was asked for
  bool all_undelivered : 1 = true;       // every failed packet was certainly not executed
  bool any_undelivered : 1 = false;      // some failed packet was
  bool was_aborted : 1 = false;
  bool is_quiet : 1 = false;     // nobody waits for its answer [PDS-064]
  bool is_probe : 1 = false;     // an exposed one asks whether the target still lives
  bool may_repeat : 1 = false;   // a rest that may be read again from its start
  bool is_retained : 1 = false;  // its user was told that it is done
  bool is_in_room : 1 = false;   // `copy` is of the endpoint's rooms
  bool is_cut : 1 = false;       // ended; what goes again of it is short and says so [LF-141]
  wire::NextHeader header = wire::NextHeader::standard;
  uint8_t ri_generation = 0;  // of this attempt: resends must not change
  uint16_t mtu = 0;           // payload octets a packet
  MessageId id;
  uint32_t segment_length = 0;  // octets of the message on the wire ...
  uint64_t segment_start = 0;   // ... which starts here in the operation [LF-131]
  uint32_t push_length = 0;     // octets of it in packets of ours; rendezvous: not all
  uint32_t next_offset = 0;     // of the next packet
  uint32_t pulled_packets = 0;
  uint32_t answered_packets = 0;
  uint32_t failed_packets = 0;
  uint32_t data_bytes = 0;    // returned so far, of this segment
  uint32_t read_packets = 0;  // of this attempt, counted at its flow
  uint32_t pull = 0;          // the rest of a message of the peer: handle of its Pull
  uint32_t restart = 0;       // a ready-to-restart: handle of its DeferredMessage
  Exposure* exposure = nullptr;
  Deferral* deferral = nullptr;
  uint32_t result_bytes = 0;  // fetching atomic: of `result`
  AtomicCode atomic;
  pds::PdcHandle pdc;
  Remote* remote = nullptr;
  Flow* flow = nullptr;  // that carries it: its remote's, or the one of RUDI

  EndpointId endpoint;
  JobId job;
  uint32_t initiator = 0;
  uint64_t sequence = 0;    // posting order
  uint64_t match_bits = 0;  // tag or key
  uint64_t remote_offset = 0;
  uint64_t header_data = 0;
  wire::ReturnCode code{};  // first error code, or null
  pds::Failure failure;
  int local_error = 0;
  uint32_t retries = 0;
  Instant first_refused;      // zero: never
  Instant stuck_since;        // refused for what no application can mend, since; zero: not so
  std::byte* copy = nullptr;  // of its payload
  OpContext context;
  Iov memory;
  TimerNode timer{kMessageTimer};
  Iov result;  // where the old values of a fetching atomic go

  uint32_t done_packets() const { return answered_packets + failed_packets; }
  // SES itself wants it; no user waits for it.
  bool is_internal() const { return pull != 0 || restart != 0; }
  // Which of the two generations of its index it is under.
  bool is_tagged() const { return kind == OpKind::tagged_send && !is_probe; }
  bool is_read() const { return kind == OpKind::read; }
  bool is_atomic() const { return kind == OpKind::atomic || kind == OpKind::fetching_atomic; }
  // Octets that come back before it is over. [SES-075]
  uint32_t expected_bytes() const { return is_read() ? segment_length : result_bytes; }
  bool returns_data() const { return is_read() || kind == OpKind::fetching_atomic; }
};

// One answer to a READ on its way back, a request of its own to PDS. [SES-074]
struct ReturnMessage {
  RegionId region;
  uint64_t region_offset = 0;
  uint32_t message_offset = 0;
  uint32_t modified_length = 0;
  uint16_t length = 0;
  bool is_pulled = false;
  bool is_unreadable = false;  // the system could not read the region's memory
  bool is_too_long = false;    // for the route to the peer [LF-141]
  bool is_unsure = false;      // its data was sent before that, and may have arrived
  bool is_counted = false;     // in the quota of its peer
  bool holds_peer = false;     // has a reference on it
  bool is_small = false;       // answers a small or medium request, named by PSN
  MessageId id;
  MessageId read_id;
  PeerId peer;
  JobId job;
  Psn psn;
  FetchBuffer* fetched = nullptr;  // the octets, instead of those of the region
  uint32_t exposed = 0;            // rendezvous: handle of the message that is read
  uint16_t attempt = 0;            // of reading it

  bool has_data() const { return !is_unreadable && !is_too_long; }
};

// Names a message at the target. [SES-009]
struct RxKey {
  pds::PdcHandle pdc;
  MessageId id;

  bool operator==(const RxKey&) const = default;
};

inline uint64_t hash_of(const RxKey& key, uint64_t seed) {
  return hash64(uint64_t{key.pdc.value()} << 16 | key.id.value(), seed);
}

// A multi-packet message being received. In order of its last packet in the list of all.
struct RxMessage : ListNode<struct PartialTag> {
  enum class To : uint8_t {
    receive,     // a posted buffer
    unexpected,  // pages of the pool
    region,      // WRITE
    nowhere,     // READ requests, errored and discarded messages: octets are only counted
    deferred,    // told to wait: the same [SES-097]
  };

  RxMessage() {}  // so that the bitmap of `packets` is not cleared before it is used
  RxKey key;
  To to = To::nowhere;
  wire::ReturnCode error{};  // null, or what every later packet is told [SES-107]
  uint8_t error_generation = 0;
  wire::SesOpcode opcode{};
  bool is_tagged = false;
  bool has_data = false;
  bool in_order = false;  // nothing before it was missing when it began
  bool som_seen = false;
  bool msg_error_seen = false;  // or the packet that ends a deferred one
  bool is_given_up = false;     // its rest is not waited for any more, but may come
  EndpointId endpoint;
  PeerId peer;
  uint32_t initiator = 0;
  JobId job;
  PidOnFep pid;
  ResourceIndex ri;
  uint64_t match_bits = 0;
  uint64_t buffer_offset = 0;
  uint64_t header_data = 0;
  uint32_t request_length = 0;
  uint32_t pushed = 0;   // octets of it that come in packets; rendezvous: not all
  uint32_t end = 0;      // where it closes: pushed, or the offset of a MSG_ERROR
  uint32_t arrived = 0;  // octets, each counted once while there is no error [SES-023]
  uint16_t mtu = 0;      // learnt from the first packet that shows it
  Instant last_arrival;
  RegionId region;
  PostedReceive* receive = nullptr;
  uint64_t place = 0;  // where in the receive it begins
  uint64_t room = 0;   // octets of it that fit
  UnexpectedMessage* unexpected = nullptr;
  Pull* pull = nullptr;  // rendezvous
  Arrivals packets;      // of it that have arrived
};

}  // namespace uet::ses
