// The record of one rendezvous message at its target: the part still to read. Pulls owns these
// records. [ses.md 4.4]
#pragma once

#include "ses/endpoint.h"
#include "ses/receives/arrived.h"

#include "base/hash.h"
#include "base/intrusive_list.h"
#include "base/serial.h"
#include "base/time.h"
#include "wire/ses_extension.h"

#include <cstdint>

namespace uet::ses {

// Key by which an initiator asks for a rendezvous message.
struct PullKey {
  PeerId peer;
  uint64_t source_key = 0;

  bool operator==(const PullKey&) const = default;
};

inline uint64_t hash_of(const PullKey& key, uint64_t seed) {
  return hash64(key.peer.value(), key.source_key, seed);
}

// A rendezvous message at its target, from its first packet until nothing is left to read.
struct Pull : ListNode<struct PullTag> {
  enum class Stage : uint8_t {
    arriving,   // pushed octets are under way, or it is kept
    reading,    // the rest, or waiting for a place to do so
    releasing,  // informs the initiator that no more will be read, or that a read failed
  };
  Stage stage = Stage::arriving;
  bool was_kept = false;  // the answer was OVERFLOW, and the initiator waits for reads
  bool is_absolute = false;
  bool has_failed = false;
  uint8_t releases_failed = 0;
  Instant again_at;  // releasing: the next try
  wire::Rendezvous source;
  PeerId peer;
  JobId job;
  EndpointId endpoint;
  PostedReceive* receive = nullptr;  // null: it needs none any more
  Arrived arrived;
};

// The Pulls of one peer that wait for a place to read, first come first; it is there while there
// are any.
struct PullQueue : ListNode<struct PullQueueTag> {
  PeerId peer;
  IntrusiveList<Pull, PullTag> pulls;
};

}  // namespace uet::ses
