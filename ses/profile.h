// The requirements and permissions of the three profiles, as one table: read before a choice is
// made toward a peer, and before an operation of a peer is served. [ses.md 8]
#pragma once

#include "wire/code_points.h"

#include <cstdint>

namespace uet::ses {

// Bits of the capability field of a UET address. [LF-005, SES-185]
enum Profile : uint8_t {
  kAiBase = 1,
  kAiFull = 2,
  kHpc = 4
};
inline constexpr uint8_t kEveryProfile = kAiBase | kAiFull | kHpc;
// In the same field: the small header is accepted. [SES-041]
inline constexpr uint8_t kTakesSmallHeader = 0x80;

// The rows of the table of profiles that affect decisions here; all others are mandatory in each
// profile, or belong to PDS and below.
enum class Feature : uint8_t {
  rudi,
  read,
  tagged_send,
  tag_wildcards,     // ignore bits
  kept_messages,     // messages wait at the target for their receive
  deferral,          // restart tokens; elsewhere a deferrable send is a plain one [SES-103]
  rendezvous,        // the target reads the rest of the send
  fetching_atomics,  // compare forms included
  send_atomics,      // atomics on a matched receive
  mandatory,         // everything else
};

enum class Support : uint8_t {
  absent,
  optional,   // works where both sides have it, is not to be counted on
  mandatory,  // every endpoint with the profile has it
};

// The support for a feature that `profiles` together require: the maximum over them. AI Base is
// part of each.
Support support(uint8_t profiles, Feature feature);

// The common features of two FEPs; an address without capabilities is AI Base. [SES-187]
constexpr uint8_t common_profiles(uint8_t ours, uint8_t theirs) {
  return static_cast<uint8_t>((ours & theirs & kEveryProfile) | kAiBase);
}

// The row that an opcode belongs to.
Feature feature_of(wire::SesOpcode opcode);

}  // namespace uet::ses
