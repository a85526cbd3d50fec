// All PDCs of a FEP: the pool, look-up by our PDCID and by (peer, its PDCID), allocation of PDCIDs,
// and the tombstones of PDCs that closed a moment ago. [PDS 2, PDS-176]
#pragma once

#include "pds/pdc/pdc.h"
#include "pds/pdc/pdc_ids.h"
#include "pds/pdc/peer_table.h"

#include "base/bitmap.h"
#include "base/hash_map.h"
#include "base/random_source.h"

#include <cstdint>

namespace uet::pds {

// A closed target PDC: its late packets are answered without being executed again. It keeps its
// peer known: an id that came to mean another address would lose it. [PDS-176, PDS-248]
struct Tombstone : ListNode<struct TombstoneTag> {
  PeerId peer;
  Pdcid peer_id;
  Pdcid id;
  Mode mode = Mode::rud;
  Psn start_psn;
  Psn close_psn;
  bool is_doubtful = false;  // for no PSN up to close_psn is the answer known
  Instant until;
};

struct PeerPdcid {
  PeerId peer;
  Pdcid id;
  bool operator==(const PeerPdcid&) const = default;
};
inline uint64_t hash_of(const PeerPdcid& k, uint64_t seed) {
  return hash64(k.peer.value(), k.id.value(), seed);
}

// A PDC of a peer that was closed: its PDCID may be used again before the tombstone expires.
struct PeerStart {
  PeerPdcid pdc;
  Psn start;
  bool operator==(const PeerStart&) const = default;
};
inline uint64_t hash_of(const PeerStart& k, uint64_t seed) {
  return hash64(hash_of(k.pdc, seed), k.start.value(), seed);
}

struct PdcLimits {
  uint32_t max_pdcs = 0;
  uint32_t max_per_role = 0;  // neither role can take everything [PDS-018]
  uint32_t tombstones = 0;
  uint32_t reserved = 0;  // of max_pdcs, for allocate_reserved() only [PDS-017]
};

class PdcTable {
 public:
  // Memory is allocated as PDCs are opened. `peers`: holds the peers of tombstones.
  Result<void> create(Arena& arena, const PdcLimits& limits, RandomSource& random,
                      PeerTable* peers = nullptr);

  // A PDC with a PDCID and a Start_PSN of its own; null when its role has used its share.
  // [PDS-010, PDS-011, PDS-018, PDS-019, PDS-044]
  Pdc* allocate(bool is_initiator, RandomSource& random);
  // The same for a target, out of the reserved pool.
  Pdc* allocate_reserved(RandomSource& random);
  // The Start_PSN of a secured initiator PDC whose target has sent it none: random, from 2^16 to
  // 2^31, because a target raises its floor to what it receives; and at least 2^16 away from the
  // last PSN of the previous PDC with this id. [PDS-050, TSS-057]
  Psn draw_low_start(Pdcid id, RandomSource& random) const;
  // The PDCID may be used again, late. The PDC must be in no list. [PDS-019]
  void free(Pdc& pdc);
  // The same, and its PDCID stays taken until the tombstone expires. If may_bury() is false there
  // is no tombstone. [PDS-176]
  void bury(Pdc& pdc, Instant until);
  // Whether one more tombstone fits. Tombstones of reclaimed PDCs make room, the oldest first;
  // tombstones of PDCs that closed in order stay until they expire.
  bool may_bury() const { return !tombstones_.full() || !reclaimed_.empty(); }
  // Removes the tombstones that have expired.
  void expire_tombstones(Instant now);
  Instant next_expiry() const;

  Pdc* find(Pdcid id) {
    const uint16_t place = by_id_.place_of(id);
    return place == 0 ? nullptr : &pdcs_.at(place - 1u);
  }
  void prefetch_id(Pdcid id) const { by_id_.prefetch(id); }
  const Pdc* find(Pdcid id) const { return const_cast<PdcTable*>(this)->find(id); }
  Pdc* get(PdcHandle handle);
  // Look-up of SYN packets. [PDS-014]
  Pdc* find_peer(PeerId peer, Pdcid peer_id) const;
  // The peer's PDCID is known from now on. A peer that gives one id to two PDCs is found by the
  // first only. False: the system has no memory for it.
  [[nodiscard]] bool bind_peer(Pdc& pdc);

  const Tombstone* find_tombstone(Pdcid id) const;
  const Tombstone* find_tombstone(PeerId peer, Pdcid peer_id, Psn start) const;

  uint32_t size() const { return pdcs_.size(); }
  uint32_t free_count(bool is_initiator) const;
  template <class Fn>
  void for_each(Fn&& fn) {
    pdcs_.for_each(fn);
  }

 private:
  static constexpr uint32_t kIds = 65536;
  static constexpr int kDrawsMax = 64;

  Pdcid take_id(RandomSource& random);
  Pdc* make(bool is_initiator, RandomSource& random);
  static constexpr int32_t kAside = int32_t{1} << 20;
  static Psn draw_start(const PdcIds::Record& id, RandomSource& random);
  static bool is_near(Psn start, uint16_t last_psn);
  Tombstone* make_tombstone(const Pdc& pdc);
  void remove_tombstone(Tombstone& t);

  Slab<Pdc> pdcs_;
  Slab<Tombstone> tombstones_;
  // Each by expiry: a list has one lifetime. [PDS-176]
  IntrusiveList<Tombstone, TombstoneTag> oldest_;     // closed by the peer
  IntrusiveList<Tombstone, TombstoneTag> reclaimed_;  // taken under pressure, kept longer
  Bitmap ids_;                                        // in use, tombstones included
  PdcIds by_id_;
  HashMap<PeerPdcid, Pdc*> by_peer_;
  HashMap<PeerStart, Tombstone*> graves_;
  HashMap<Pdcid, Tombstone*> graves_by_id_;
  PdcLimits limits_;
  PeerTable* peers_ = nullptr;
  uint32_t role_count_[2] = {0, 0};  // of the general pool
  uint32_t reserved_count_ = 0;
};

}  // namespace uet::pds
