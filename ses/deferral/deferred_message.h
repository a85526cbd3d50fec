// The record of one message that the target deferred because it had no receive for it.
// DeferredMessages owns these records. [ses.md 4.5]
#pragma once

#include "ses/endpoint.h"

#include "base/hash.h"
#include "base/intrusive_list.h"
#include "base/serial.h"
#include "base/time.h"

#include <cstdint>

namespace uet::ses {

struct PostedReceive;
struct UnexpectedMessage;

// Names a deferred message at its target: only its initiator can mean it. [T-28]
struct DeferredKey {
  EndpointId endpoint;
  PeerId peer;
  uint32_t initiator = 0;
  uint32_t token = 0;  // the initiator's

  bool operator==(const DeferredKey&) const = default;
};

inline uint64_t hash_of(const DeferredKey& key, uint64_t seed) {
  return hash64(uint64_t{key.endpoint.value()} << 32 | key.peer.value(),
                uint64_t{key.initiator} << 32 | key.token, seed);
}

// A peer at an endpoint: its deferred messages are counted, so that it leaves room to others.
struct DeferrerKey {
  EndpointId endpoint;
  PeerId peer;

  bool operator==(const DeferrerKey&) const = default;
};

inline uint64_t hash_of(const DeferrerKey& key, uint64_t seed) {
  return hash64(key.endpoint.value(), key.peer.value(), seed);
}

// A deferred message: its envelope is kept like that of an unexpected message, its payload is not.
// The list of all is in the order of the last sign of life.
struct DeferredMessage : ListNode<struct DeferredTag>, ListNode<struct AskTag> {
  DeferredKey key;
  UnexpectedMessage* message = nullptr;
  uint32_t target_token = 0;         // of the ready-to-restart; 0: none yet
  bool is_discarded = false;         // it is wanted only to be thrown away [LF-059]
  PostedReceive* receive = nullptr;  // is set aside for it
  uint64_t room = 0;                 // octets of the message that fit there
  Instant last_heard;

  // A ready-to-restart is due or under way; not in the queues of its Matcher any more.
  bool is_called() const { return receive != nullptr || is_discarded; }
};

}  // namespace uet::ses
