// The record of one multi-packet message being received. ArrivingMessages owns these records.
#pragma once

#include "ses/endpoint.h"
#include "ses/incoming/arrivals.h"
#include "ses/memory/memory_region.h"
#include "ses/receives/arrived.h"

#include "pds/client.h"

#include "base/hash.h"
#include "base/intrusive_list.h"
#include "base/serial.h"
#include "base/time.h"
#include "wire/code_points.h"

#include <cstdint>

namespace uet::ses {

struct Pull;

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
    deferred,    // sent again later: the same [SES-097]
  };

  RxMessage() {}  // so that the bitmap of `packets` is not cleared before it is used
  RxKey key;
  Psn psn;                           // of the packet that came first
  RxMessage* next_of_pdc = nullptr;  // of the known messages of its PDC
  RxMessage* previous_of_pdc = nullptr;
  To to = To::nowhere;
  wire::ReturnCode error{};  // null, or the answer to every later packet [SES-107]
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
  uint32_t pushed = 0;   // octets that come in packets; rendezvous: not all of the message
  uint32_t end = 0;      // where it closes: pushed, or the offset of a MSG_ERROR
  uint32_t arrived = 0;  // octets, each counted once until an error [SES-023]
  uint16_t mtu = 0;      // learnt from the first packet that shows it
  Instant last_arrival;
  RegionId region;
  PostedReceive* receive = nullptr;
  Place place;  // in the receive
  UnexpectedMessage* unexpected = nullptr;
  Pull* pull = nullptr;  // rendezvous
  Arrivals packets;      // octets of the message that have arrived
};

inline Envelope envelope_of(const RxMessage& m) {
  return {.tag = m.match_bits, .peer = m.peer, .initiator = m.initiator, .job = m.job};
}

}  // namespace uet::ses
