// Differences between two readings of a key file: the actions of a reload. [TSS-045, TSS-046]
#pragma once

#include "keys/key_file.h"

#include <cstdint>
#include <vector>

namespace uet::keys {

enum class ChangeKind : uint8_t {
  domain_added,
  domain_removed,
  terms_changed,   // mode, source, policy, limits: the domain is replaced
  key_removed,     // overwrite it now
  key_added,       // good for receiving
  expiry_changed,  // of a key that stays
  epochs_changed,  // the same
  transmit,        // send with this key from now on
};

struct Change {
  ChangeKind kind;
  uint32_t sdi = 0;
  bool an = false;  // of the key; with the kinds of domains 0
  bool operator==(const Change&) const = default;
};

// In a possible order: removals before additions, keys before their use. A key with another secret
// under the same AN is one removal and one addition.
std::vector<Change> changes(const KeyFile& before, const KeyFile& after);

}  // namespace uet::keys
