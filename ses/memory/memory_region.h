// Registered memory: keys, rights, bounds. The key is looked up for every packet, so that a region
// may be removed between two packets of a message.
//
//  63 | 62 | 61..56 | 55..48     | 47..12      | 11..0
//  is | op | 0      | bit 48: own| RKEY, high  | RKEY, low; optimized: index      [LF-023, LF-026]
// Provider keys: bit 48, a slot index and a random nonce. User keys: looked up in a hash map. One
// that the format has no room for travels as bit 49 and a hash of it. [LF-150]
#pragma once

#include "ses/iov.h"
#include "ses/types.h"

#include "base/arena.h"
#include "base/hash_map.h"
#include "base/packet.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/serial.h"
#include "base/slab.h"
#include "wire/code_points.h"

#include <cstdint>
#include <span>

namespace uet::ses {

enum Access : uint32_t {
  kRemoteRead = 1,
  kRemoteWrite = 2,
  kAtomic = 4
};

struct RegionRequest {
  std::span<const IoSlice> iov{};  // at most 64, copied; the memory stays valid until remove()
  uint32_t access = 0;             // Access bits
  bool provider_key = true;        // else `key` is the application's, any number [LF-029]
  uint64_t key = 0;
  bool idempotent_safe = false;  // replays do no harm: RUDI may be used [LF-027]
  bool optimized = false;        // wants a 12-bit key for the small header; needs provider_key. If
                                 // none is left, an ordinary key instead [LF-028]
  uint32_t job = kAnyJob;        // restriction [LF-037]
  // The same to any of several; none: no restriction. The list stays valid until remove(). [LF-019]
  std::span<const JobId> jobs{};
  bool directed = false;  // restriction to one initiator [LF-019]
  PeerId from{};
  uint32_t from_initiator = 0;
  uint16_t ri = 0;       // restriction, 0: none [LF-037]
  uint64_t base = 0;     // what peers call the first octet: its address, or 0 [LF-151]
  uint64_t user = 0;     // the provider's own word, returned with remote events
  uint32_t exposed = 0;  // the source of that rendezvous send, usable at once
};

using RegionId = Id<struct RegionTag, uint32_t>;  // 0: none

// The access that a request asks for.
struct RegionUse {
  uint32_t access = 0;  // Access bits, all needed
  JobId job;
  ResourceIndex ri;
  PeerId peer{};
  uint32_t initiator = 0;
  bool replayable = false;  // RUDI: the region must be idempotent-safe [SES-077]
  uint64_t offset = 0;
  uint64_t length = 0;
};

// The key says that replays do no harm: RUDI may be used. [LF-023, LF-027]
inline constexpr uint64_t kIdempotentSafe = uint64_t{1} << 63;
// The key has the optimized format: its low 12 bits identify the region. [LF-023, LF-024]
inline constexpr uint64_t kOptimizedKey = uint64_t{1} << 62;

// The key on the wire for a key that the application or the peer named. A key in the format above
// is sent unchanged; another one is replaced by a hash, the same at both ends. [LF-150]
uint64_t hashed_key(uint64_t key);
constexpr bool has_key_format(uint64_t key) {
  constexpr uint64_t kReserved = uint64_t{0x3F} << 56;
  constexpr uint64_t kOptimizedReserved = (uint64_t{1} << 48) - (uint64_t{1} << 12);
  return (key & kReserved) == 0 && ((key & kOptimizedKey) == 0 || (key & kOptimizedReserved) == 0);
}
inline uint64_t wire_key(uint64_t key) { return has_key_format(key) ? key : hashed_key(key); }

// The 12 bits of an optimized key; 0: not such a key.
constexpr uint16_t optimized_index(uint64_t key) {
  const uint64_t index = (key & ~kIdempotentSafe) ^ kOptimizedKey;
  return index < 4096 ? static_cast<uint16_t>(index) : uint16_t{0};
}

class MemoryRegions {
 public:
  Result<void> create(Arena& arena, uint32_t capacity, uint64_t seed);

  // Errc::exists: that user key is in use. Errc::invalid: more than 64 slices. Errc::again: no
  // slot. Disabled until enable().
  Result<RegionId> add(const RegionRequest& request);
  void enable(RegionId id);
  // No packet touches the memory after this returns.
  void remove(RegionId id);
  // The contents of the key field. [LF-023]
  uint64_t key(RegionId id) const;
  uint64_t user(RegionId id) const;
  // The rendezvous send with that source; 0: a region of the user.
  uint32_t exposed(RegionId id) const;
  bool is_exposed(uint64_t key) const { return exposed(id_of_key(key)) != 0; }
  // Whether the provider made the key (bit 48). Every source of a rendezvous has such a key, at
  // both ends. [LF-026]
  static bool is_provider_key(uint64_t key);

  // The region a key names for that use, or the return code that says why not. [SES-116, SES-083]
  Result<RegionId, wire::ReturnCode> authorize(uint64_t key, const RegionUse& use) const;
  // The same for the 12-bit key of a small header. [SES-008]
  Result<RegionId, wire::ReturnCode> authorize_optimized(uint16_t index, RegionUse use) const;

  // Copies to the region's memory. False: the region is gone or shorter; nothing was touched.
  bool place(RegionId id, uint64_t offset, std::span<const std::byte> source) const;
  // Calls fn(data, length) for the memory of [offset, offset + length). False: gone or shorter.
  template <class Fn>
  bool for_each(RegionId id, uint64_t offset, uint64_t length, Fn&& fn) const {
    const Region* region = find(id);
    if (region == nullptr || !region->covers(offset, length)) return false;
    region->memory.for_each(offset - region->base, length, fn);
    return true;
  }

  // Grows with every enable(); a disabled index looks here whether to come back. [LF-039]
  uint64_t enabled_total() const { return enabled_total_; }
  uint32_t size() const { return regions_.size(); }

 private:
  struct Region {
    Iov memory;
    std::span<const JobId> jobs;
    uint64_t key = 0;
    uint64_t base = 0;
    uint64_t user = 0;
    uint32_t access = 0;
    uint32_t job = kAnyJob;
    uint32_t exposed = 0;
    PeerId from;
    uint32_t from_initiator = 0;
    uint16_t ri = 0;
    uint16_t optimized_index = 0;
    bool is_user_key = false;
    bool is_optimized = false;
    bool is_enabled = false;
    bool idempotent_safe = false;
    bool is_directed = false;

    bool is_for(const RegionUse& use) const;
    bool covers(uint64_t address, uint64_t length) const {
      const uint64_t offset = address - base;  // below the base: more than any region has
      return offset <= memory.bytes() && length <= memory.bytes() - offset;
    }
  };
  static constexpr uint32_t kOptimizedCount = 4096;

  const Region* find(RegionId id) const {
    return regions_.get(Handle<Region>::from_word(id.value()));
  }
  Region* find(RegionId id) { return regions_.get(Handle<Region>::from_word(id.value())); }
  Result<void> give_key(Region& region, RegionId id, const RegionRequest& request);
  Result<void> take_user_key(Region& region, RegionId id, const RegionRequest& request);
  RegionId id_of_key(uint64_t key) const;
  Result<RegionId, wire::ReturnCode> check(RegionId id, const RegionUse& use) const;

  Slab<Region> regions_;
  LongIovs long_iovs_;
  HashMap<uint64_t, uint32_t> user_keys_;  // key on the wire, without bit 63 -> RegionId
  std::span<uint32_t> by_slot_;            // slot index -> RegionId, possibly of a region gone
  std::span<uint32_t> optimized_;          // index -> RegionId, 0: free; index 0 is never given
  uint32_t optimized_next_ = 1;
  Rng rng_{0};
  uint64_t enabled_total_ = 0;
};

}  // namespace uet::ses
