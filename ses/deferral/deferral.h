// The records of deferrable sends: what their initiator waits with for a ready-to-restart, and what
// the target remembers of a message that found no receive. The rules are in initiator_deferral.cpp
// and target_deferral.cpp. [ses.md 4.5]
#pragma once

#include "ses/endpoint.h"
#include "ses/types.h"

#include "base/hash.h"
#include "base/intrusive_list.h"
#include "base/serial.h"
#include "base/time.h"
#include "wire/ses.h"

#include <cstdint>

namespace uet::ses {

struct PostedReceive;
struct UnexpectedMessage;

// A deferrable send at its initiator, from the post to the end.
struct Deferral {
  uint32_t token = 0;             // ours, never 0: names the send to its target [SES-093]
  uint32_t target_token = 0;      // what the packets of this attempt carry; 0: none [SES-099]
  uint32_t granted_token = 0;     // with is_granted
  uint32_t target_initiator = 0;  // who may have it restarted
  bool is_granted : 1 = false;    // a ready-to-restart came before the answer that defers it
  bool is_deferred : 1 = false;   // an answer to this attempt said so [SES-095]
  bool is_closed : 1 = false;  // this attempt ends with a packet that says no more comes [SES-097]
};

// What one ready-to-restart says and who says it. [SES-098, SES-099]
struct Restart {
  PeerId peer;
  JobId job;
  uint32_t initiator = 0;
  wire::RestartTokens tokens;
};

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

// Of whom an endpoint remembers messages: they are counted, so that each peer leaves room.
struct DeferrerKey {
  EndpointId endpoint;
  PeerId peer;

  bool operator==(const DeferrerKey&) const = default;
};

inline uint64_t hash_of(const DeferrerKey& key, uint64_t seed) {
  return hash64(key.endpoint.value(), key.peer.value(), seed);
}

// A message that was told to wait: its envelope is kept like that of an unexpected message, its
// payload is not. In order of what was last heard of it in the list of all.
struct DeferredMessage : ListNode<struct DeferredTag>, ListNode<struct AskTag> {
  DeferredKey key;
  UnexpectedMessage* message = nullptr;
  uint32_t target_token = 0;         // of the ready-to-restart; 0: none yet
  bool is_discarded = false;         // it is wanted only to be thrown away [LF-059]
  PostedReceive* receive = nullptr;  // is set aside for it
  uint64_t room = 0;                 // octets of it that fit there
  Instant last_heard;

  // A ready-to-restart is due or under way; not in the queues of its Matcher any more.
  bool is_called() const { return receive != nullptr || is_discarded; }
};

}  // namespace uet::ses
