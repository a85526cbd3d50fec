// What the stubs of part tests of SES answer. A test changes it before it acts.
#pragma once

#include "ses/receives/matcher.h"

#include <cstdint>
#include <vector>

namespace uet::ses::test {

struct Answers {
  bool may_post = true;               // SES itself, an operation
  std::vector<uint32_t> posted;       // Pulls and DeferredMessages of these
  bool knows_restart = false;         // Outgoing
  bool may_book = true;               // Receives: room for a completion
  UnexpectedMessage* kept = nullptr;  // KeptRoom: the record of the next message
  bool may_store = true;              // KeptRoom
  bool is_region_good = true;         // MemoryRegions
  uint32_t exposed = 0;               // MemoryRegions: the source that its region was added for
};
inline Answers& answers() {
  static Answers all;
  return all;
}

}  // namespace uet::ses::test
