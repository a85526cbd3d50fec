// State of SecurePsn: the floors that this FEP as a target keeps for each (secure domain, peer),
// and the starts that targets assigned to it as an initiator. The table is bounded; the least
// recently used entry is forgotten first, which costs a round trip and never safety: after a floor
// was forgotten, every PDC begins at a random PSN that the target chooses. The same holds for a
// peer that has used a quarter of the PSNs: after half of them its first PSNs would lie above its
// floor. [PDS-050, PDS-053]
#pragma once

#include "pds/pdc/peer_table.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/hash_map.h"
#include "base/intrusive_list.h"
#include "base/result.h"
#include "base/serial.h"
#include "base/slab.h"

#include <cstdint>

namespace uet::pds {

// By address: a PeerId may pass to another peer.
struct StartKey {
  FabricAddress peer;
  uint32_t sdi = 0;
  bool is_floor = false;  // our floor as a target; else the start that the peer assigned
  bool operator==(const StartKey&) const = default;
};
inline uint64_t hash_of(const StartKey& k, uint64_t seed) {
  return hash64(hash_of(k.peer, seed), uint64_t{k.sdi} << 1 | uint64_t{k.is_floor}, seed);
}

// A value, and how many PSNs lie between the first one ever used and it.
struct KnownStart {
  Psn psn;
  uint32_t used = 0;  // at most kUsedMax, which also means more

  static constexpr uint32_t kUsedMax = uint32_t{1} << 30;
  // Smaller PSNs than this are not all that were used before.
  bool is_spent() const { return used == kUsedMax; }
};

class SecureStarts {
 public:
  Result<void> create(Arena& arena, uint32_t entries, uint64_t seed);

  // The stored value, or null.
  const KnownStart* find(const StartKey& key);
  // A floor was forgotten, so a source without a floor may be its owner, or an attacker who
  // recorded the owner's packets.
  bool has_forgotten_floor() const { return has_forgotten_floor_; }
  // Stores it unless a later one is there: values never go back. `used`: PSNs of the PDC that ends
  // there.
  void raise(const StartKey& key, Psn psn, uint32_t used = 0);
  uint32_t size() const { return entries_.size(); }

 private:
  struct Entry : ListNode<struct StartLruTag> {
    StartKey key;
    KnownStart start;
  };

  Slab<Entry> entries_;
  HashMap<StartKey, Entry*> by_key_;
  IntrusiveList<Entry, StartLruTag> lru_;  // longest unused first
  bool has_forgotten_floor_ = false;
};

}  // namespace uet::pds
