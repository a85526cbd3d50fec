// The records of rendezvous sends: what the initiator exposes, and what the target has yet to read.
// The rules are in initiator_rendezvous.cpp and target_rendezvous.cpp. [ses.md 4.4]
#pragma once

#include "ses/endpoint.h"
#include "ses/memory/memory_region.h"
#include "ses/types.h"

#include "base/hash.h"
#include "base/intrusive_list.h"
#include "base/serial.h"
#include "wire/ses_extension.h"

#include <cstdint>

namespace uet::ses {

// The source buffer of one rendezvous send, readable until the send is over. [SES-088, SES-092]
struct Exposure {
  RegionId region;  // private to this message; none once the send is over
  wire::Rendezvous source;
  uint32_t wanted = 0;       // octets that the target will read
  uint32_t served = 0;       // of them acknowledged, in this attempt to read
  uint32_t unsure = 0;       // of those that became too long: they may have arrived [LF-141]
  uint64_t unsure_end = 0;   // behind the last of these
  uint32_t first_read = 0;   // octets of the READ that began the rest
  uint16_t attempt = 0;      // grows when the target begins anew
  uint8_t idle_looks = 0;    // times that it was found as it was, one after the other
  bool is_begun = false;     // some of it was asked for
  bool is_released = false;  // the target said that it reads no more
  bool is_given_up = false;  // that it could not read all it wanted
  bool is_kept = false;      // the target has no receive for it yet [SES-090]
  bool is_cut = false;       // the last READ had an answer that is too long for the route

  bool is_read_out() const { return is_released || served >= wanted; }
  // Nothing is missing but octets that may have arrived.
  bool may_be_read_out() const { return unsure != 0 && uint64_t{served} + unsure >= wanted; }
};

// What is known of a message when its receive completes.
struct Arrived {
  Envelope envelope;
  uint64_t header_data = 0;
  uint32_t request_length = 0;
  bool has_data = false;
  Completion::Status status = Completion::Status::ok;
  wire::ReturnCode code{};
  uint64_t place = 0;  // in the receive
  uint64_t room = 0;   // octets of the message that fit
};

// By what an initiator names a rendezvous message when it asks for it.
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
    releasing,  // tells the initiator that no more will be read, or no more can be
  };
  Stage stage = Stage::arriving;
  bool was_kept = false;  // the initiator was told OVERFLOW and waits for reads
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

}  // namespace uet::ses
