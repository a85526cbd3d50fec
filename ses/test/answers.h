// What the stubs of part tests of SES answer. A test changes it before it acts.
#pragma once

#include "ses/memory/memory_region.h"
#include "ses/receives/matcher.h"
#include "tss/policy.h"

#include <cstdint>
#include <vector>

namespace uet::ses::test {

// What the halves answer to Exchange.
struct AnswersToExchange {
  bool has_message = true;              // Outgoing, for a flow
  bool has_packet = true;               // Outgoing and ReadAnswers, for a message
  bool is_shortened = true;             // Outgoing
  uint32_t ends = 0;                    // Outgoing: operations of SES that end in its next call
  Instant deadline = Instant::never();  // Incoming
  std::vector<uint16_t> held;           // ReadAnswers: lengths of those that it is created with,
  uint32_t reader = 1;                  // and for which peer
};

struct Answers {
  bool may_post = true;                 // SES itself, an operation
  std::vector<uint32_t> posted;         // Pulls and DeferredMessages of these
  bool knows_restart = false;           // Outgoing
  bool may_book = true;                 // Receives: room for a completion
  UnexpectedMessage* kept = nullptr;    // KeptRoom: the record of the next message
  bool may_store = true;                // KeptRoom
  DeferredMessage* deferred = nullptr;  // DeferredMessages: the record of each deferrable send,
  bool is_deferred = false;             // known before, or
  bool may_remember = true;             // only then
  bool is_region_good = true;           // MemoryRegions
  RegionUse use;                        // MemoryRegions: that was asked for last
  uint32_t region = 1;                  // MemoryRegions: the one of any key
  uint32_t exposed = 0;                 // MemoryRegions: the source that its region was added for
  uint32_t domain = 0;                  // JobTable: of each job
  tss::Policy policy = tss::Policy::none;  // JobTable: of each job
  AnswersToExchange to_exchange;
};
inline Answers& answers() {
  static Answers all;
  return all;
}

}  // namespace uet::ses::test
