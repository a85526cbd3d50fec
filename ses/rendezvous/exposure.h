// The record of one rendezvous send at its initiator: its exposed source, and how many octets the
// target has read. Exposures owns these records. [ses.md 4.4]
#pragma once

#include "ses/memory/memory_region.h"

#include "wire/ses_extension.h"

#include <cstdint>

namespace uet::ses {

struct TxMessage;

// Readable until the send is over. [SES-088, SES-092]
struct Exposure {
  uint32_t handle = 0;  // of its slab
  TxMessage* message = nullptr;
  RegionId region;  // private to this message; none once the send is over
  wire::Rendezvous source;
  uint32_t wanted = 0;       // octets that the target will read
  uint32_t served = 0;       // of them acknowledged, in this attempt to read
  uint32_t unsure = 0;       // answers that became too long: they may have arrived [LF-141]
  uint64_t unsure_end = 0;   // behind the last of these
  uint32_t first_read = 0;   // octets of the READ that began the rest
  uint16_t attempt = 0;      // grows when the target starts over
  uint8_t idle_looks = 0;    // answered probes in a row that found no progress
  bool is_begun = false;     // the target has asked for a part
  bool is_released = false;  // the target said that it reads no more
  bool is_given_up = false;  // it ends in an error: not all of it was read
  bool is_kept = false;      // the target has no receive for it yet [SES-090]
  bool is_cut = false;       // the last READ had an answer that is too long for the route
  bool is_known = false;     // the target accepted the last probe that named this message
  bool is_trial = false;     // the probe in flight names no message [SES-192]

  bool is_read_out() const { return is_released || served >= wanted; }
  // A target that has a receive, or has begun.
  bool should_be_read() const { return !is_kept || is_begun; }
  // No source of a rendezvous has a key with that bit. [SES-192]
  uint64_t probe_key() const { return source.read_memory_key | (is_trial ? kIdempotentSafe : 0); }
  // Nothing is missing but octets that may have arrived.
  bool may_be_read_out() const { return unsure != 0 && uint64_t{served} + unsure >= wanted; }
};

// The facts about an answer to a READ that has ended.
struct AnswerEnd {
  uint32_t exposed = 0;  // handle of the Exposure that was read; 0: a region of the user's
  uint16_t attempt = 0;  // of reading it
  uint16_t length = 0;   // octets
  uint64_t end = 0;      // behind the last of them, in the region
  bool has_data = false;
  bool is_unsure = false;  // its data was sent before it was cut, and may have arrived
};

}  // namespace uet::ses
