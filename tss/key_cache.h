// Keys ready for use, each with its cipher context: those of direct and client mode unchanged, the
// others derived. All contexts are made at set-up. A key for a received packet gets a place only
// after that packet is authentic. [TSS-106, TSS-137, T-14]
#pragma once

#include "tss/cipher.h"
#include "tss/identity.h"

#include "base/arena.h"
#include "base/hash_map.h"
#include "base/intrusive_list.h"
#include "base/slab.h"

#include <cstdint>

namespace uet::tss {

// Identity of a ready key: the installed key, and the inputs of its derivation.
struct ReadyName {
  uint32_t serial = 0;  // of the installed key; 0: none
  uint16_t epoch = 0;
  uint32_t rekey = 0;
  Identity owner{};
  bool operator==(const ReadyName&) const = default;
};
inline uint64_t hash_of(const ReadyName& n, uint64_t seed) {
  return hash64(hash_of(n.owner, seed) ^ n.epoch, uint64_t{n.serial} << 32 | n.rekey, seed);
}

struct ReadyKey : ListNode<struct ReadyLruTag> {
  ReadyName name;
  bool is_kept = false;  // it is in the table: neither the draft nor free
  Aead aead;
  std::array<std::byte, kIvMaskBytes> iv_mask{};  // zero in mode direct: nothing is masked
};

class KeyCache {
 public:
  // At least two entries, of which one is the draft. Fails like Aead::create.
  Result<void> create(Arena& arena, uint32_t entries, uint64_t seed);

  // Null when it is not there. `last`: what this caller got before; it saves the search.
  ReadyKey* find(const ReadyName& name, ReadyKey*& last);

  // A place to make a key in. It is in no table; the next call returns the same.
  ReadyKey& draft() { return *draft_; }
  // The draft becomes the key of its name, which is not in the table yet. The key that was not used
  // for the longest time makes room.
  ReadyKey& keep_draft();

  // Overwrites all keys of an installed key. Cost: a walk over all entries. [TSS-048]
  void forget(uint32_t serial);

  uint32_t size() const { return by_name_.size(); }

 private:
  void empty(ReadyKey& entry);

  Slab<ReadyKey> entries_;
  HashMap<ReadyName, ReadyKey*> by_name_;
  IntrusiveList<ReadyKey, ReadyLruTag> lru_;  // in use; longest unused first
  IntrusiveList<ReadyKey, ReadyLruTag> free_;
  ReadyKey* draft_ = nullptr;
};

}  // namespace uet::tss
