// Allocation and look-up of PDCs and tombstones.
#include "pds/pdc/pdc_table.h"

#include <algorithm>

namespace uet::pds {

Result<void> PdcTable::create(Arena& arena, const PdcLimits& limits, RandomSource& random,
                              PeerTable* peers) {
  UET_ASSERT(limits.max_pdcs < kIds);
  limits_ = limits;
  peers_ = peers;
  const Room pdcs{std::min(limits.max_pdcs, 256U), limits.max_pdcs};
  const Room graves{std::min(limits.tombstones, 64U), limits.tombstones};
  UET_CHECK(pdcs_.create(arena, pdcs, Reuse::late));
  UET_CHECK(tombstones_.create(arena, graves));
  UET_CHECK(ids_.create(arena, kIds));
  UET_CHECK(by_peer_.create(arena, pdcs, random.u64()));
  UET_CHECK(graves_.create(arena, graves, random.u64()));
  UET_CHECK(graves_by_id_.create(arena, graves, random.u64()));
  return by_id_.create(arena);
}

uint32_t PdcTable::free_count(bool is_initiator) const {
  const uint32_t general = limits_.max_pdcs - limits_.reserved;
  const uint32_t pool = general - (pdcs_.size() - reserved_count_);
  const uint32_t share = limits_.max_per_role - role_count_[is_initiator];
  return pool < share ? pool : share;
}

// Each id is drawn at random, so that the next one does not follow from earlier ids. Most draws
// find a free id at once; when nearly all are taken, the first free one after the draw is used.
// [PDS-019, T-04]
Pdcid PdcTable::take_id(RandomSource& random) {
  ids_.set(0);  // not an id [PDS-011]
  uint32_t id = 0;
  for (int draw = 0; draw < kDrawsMax && ids_.test(id); ++draw) {
    id = static_cast<uint32_t>(random.below(kIds));
  }
  if (ids_.test(id)) id = ids_.find_first_zero(id);
  if (id == kIds) id = ids_.find_first_zero(0);
  if (id == kIds) return Pdcid(0);
  ids_.set(id);
  return Pdcid(static_cast<uint16_t>(id));
}

Pdc* PdcTable::allocate(bool is_initiator, RandomSource& random) {
  if (free_count(is_initiator) == 0) return nullptr;
  Pdc* const pdc = make(is_initiator, random);
  if (pdc != nullptr) ++role_count_[is_initiator];
  return pdc;
}

Pdc* PdcTable::allocate_reserved(RandomSource& random) {
  if (reserved_count_ == limits_.reserved) return nullptr;
  Pdc* const pdc = make(false, random);
  if (pdc == nullptr) return nullptr;
  pdc->is_reserved = true;
  ++reserved_count_;
  return pdc;
}

Pdc* PdcTable::make(bool is_initiator, RandomSource& random) {
  const Pdcid id = take_id(random);
  if (id == Pdcid{}) return nullptr;
  Pdc* const pdc = pdcs_.alloc(uint8_t{0});
  if (pdc == nullptr) {  // no memory
    ids_.clear(id.value());
    return nullptr;
  }
  pdc->life.start(is_initiator);
  pdc->id = id;
  pdc->handle = PdcHandle(pdcs_.handle(pdc).word());
  PdcIds::Record& record = by_id_.record_of(id);
  record.place = static_cast<uint16_t>(pdcs_.handle(pdc).index() + 1);
  pdc->start.begin_at(draw_start(record, random));
  return pdc;
}

// At least 2^16 away from the last PSN of the previous PDC with this id: the upper halves are not
// adjacent. [PDS-044]
Psn PdcTable::draw_start(const PdcIds::Record& id, RandomSource& random) {
  const Psn start(random.u32());
  return is_near(start, id.last_psn) ? start + kAside : start;
}

bool PdcTable::is_near(Psn start, uint16_t last_psn) {
  const auto apart = static_cast<int16_t>((start.value() >> 16) - last_psn);
  return apart >= -1 && apart <= 1;
}

Psn PdcTable::draw_low_start(Pdcid id, RandomSource& random) const {
  constexpr uint32_t kFirst = uint32_t{1} << 16;
  constexpr uint32_t kBeyond = uint32_t{1} << 31;
  const Psn start(kFirst + static_cast<uint32_t>(random.below(kBeyond - kFirst)));
  if (!is_near(start, by_id_.last_psn_of(id))) return start;
  return start.value() < kBeyond / 2 ? start + kAside : start - kAside;
}

Pdc* PdcTable::get(PdcHandle handle) { return pdcs_.get(Handle<Pdc>::from_word(handle.value())); }

Pdc* PdcTable::find_peer(PeerId peer, Pdcid peer_id) const {
  Pdc* const* const found = by_peer_.find({peer, peer_id});
  return found == nullptr ? nullptr : *found;
}

bool PdcTable::bind_peer(Pdc& pdc) {
  if (find_peer(pdc.peer, pdc.peer_id) != nullptr) return true;
  return by_peer_.insert({pdc.peer, pdc.peer_id}, &pdc).ok();
}

void PdcTable::free(Pdc& pdc) {
  const Pdcid id = pdc.id;
  if (find_peer(pdc.peer, pdc.peer_id) == &pdc) by_peer_.erase({pdc.peer, pdc.peer_id});
  PdcIds::Record& record = by_id_.record_of(id);
  record.place = 0;
  record.last_psn = static_cast<uint16_t>((pdc.tx.next() - 1).value() >> 16);
  if (pdc.is_reserved) {
    --reserved_count_;
  } else {
    --role_count_[pdc.is_initiator()];
  }
  ids_.clear(id.value());
  pdcs_.free(&pdc);
}

void PdcTable::bury(Pdc& pdc, Instant until) {
  // A reclaimed PDC was most likely forged: its tombstone makes room for others.
  if (tombstones_.full() && !reclaimed_.empty()) remove_tombstone(*reclaimed_.front());
  const Psn start = pdc.start.psn();
  if (auto* const same = const_cast<Tombstone*>(find_tombstone(pdc.peer, pdc.peer_id, start))) {
    remove_tombstone(*same);
  }
  Tombstone* const t = make_tombstone(pdc);
  if (t == nullptr) return free(pdc);  // no room
  if (peers_ != nullptr) peers_->add_ref(pdc.peer);
  t->peer = pdc.peer;
  t->peer_id = pdc.peer_id;
  t->id = pdc.id;
  t->mode = pdc.mode;
  t->start_psn = start;
  t->close_psn = pdc.end.psn();
  t->is_doubtful = pdc.end.is_doubtful();
  t->until = until;
  (pdc.life.close_received() ? oldest_ : reclaimed_).push_back(*t);
  free(pdc);
  ids_.set(t->id.value());
}

// A PDC with its record. Null: no PDC is free, or the system has no memory.
Tombstone* PdcTable::make_tombstone(const Pdc& pdc) {
  Tombstone* const t = tombstones_.alloc();
  if (t == nullptr) return nullptr;
  const PeerStart key{{pdc.peer, pdc.peer_id}, pdc.start.psn()};
  if (!graves_.insert(key, t).ok()) {
    tombstones_.free(t);
    return nullptr;
  }
  if (!graves_by_id_.insert(pdc.id, t).ok()) {
    graves_.erase(key);
    tombstones_.free(t);
    return nullptr;
  }
  return t;
}

void PdcTable::remove_tombstone(Tombstone& t) {
  graves_.erase({{t.peer, t.peer_id}, t.start_psn});
  graves_by_id_.erase(t.id);
  ids_.clear(t.id.value());
  if (peers_ != nullptr) peers_->drop_ref(t.peer);
  tombstones_.free(&t);
}

void PdcTable::expire_tombstones(Instant now) {
  for (auto* const list : {&oldest_, &reclaimed_}) {
    while (Tombstone* const t = list->front()) {
      if (t->until > now) break;
      remove_tombstone(*t);
    }
  }
}

Instant PdcTable::next_expiry() const {
  Instant next = Instant::never();
  if (const Tombstone* const t = oldest_.front()) next = t->until;
  if (const Tombstone* const t = reclaimed_.front()) next = std::min(next, t->until);
  return next;
}

const Tombstone* PdcTable::find_tombstone(Pdcid id) const {
  Tombstone* const* const found = graves_by_id_.find(id);
  return found == nullptr ? nullptr : *found;
}

const Tombstone* PdcTable::find_tombstone(PeerId peer, Pdcid peer_id, Psn start) const {
  Tombstone* const* const found = graves_.find({{peer, peer_id}, start});
  return found == nullptr ? nullptr : *found;
}

}  // namespace uet::pds
