// Responses by PSN: stored, found again, cleared. [PDS 9]
#include "pds/rx/response_store.h"

#include "pds/share.h"

#include "base/hash.h"

#include <bit>

namespace uet::pds {

namespace {
// Responses kept for a PDC with an unproven source: as many as a new peer may need in its first
// round trip. [PDS-255]
constexpr uint32_t kUnprovenResponses = 16;
constexpr uint32_t kFirstBuckets = 64;
}  // namespace

Result<void> ResponseStore::create(Arena& arena) {
  UET_CHECK(responses_.create(arena, res_.config.gd_entries + res_.config.gd_extra()));
  arena_ = &arena;
  buckets_ = arena.make_zero_span<uint32_t>(kFirstBuckets);
  seed_ = res_.randomness.u64();
  return buckets_.empty() ? Result<void>(Errc::no_memory) : Result<void>();
}

// The packet that fills the gap below the first response finds its place paid for.
uint8_t ResponseStore::places_of(const Pdc& pdc, Psn psn, bool in_order) {
  if (!in_order) return 2;
  const StoredResponse* const first = pdc.responses.first();
  return first != nullptr && first->places == 2 && first->trigger.psn.after(psn) ? 0 : 1;
}

bool ResponseStore::may_store(const Pdc& pdc, Psn psn, bool in_order) const {
  const uint32_t keep_here = in_order ? 0 : 1;
  if (pdc.responses.held() + keep_here >= res_.config.gd_per_pdc) return false;
  return has_room(pdc, places_of(pdc, psn, in_order)) || (in_order && may_have_extra(pdc));
}

bool ResponseStore::has_room(const Pdc& pdc, uint32_t places) const {
  return places == 0 || (places <= free_places() && is_within_limits(pdc, places));
}

// It is cleared without any other packet, so it comes back from a peer that lives.
bool ResponseStore::may_have_extra(const Pdc& pdc) const {
  return !pdc.is_unverified() && extra_taken_ < res_.config.gd_extra() &&
         res_.peers.host_of(res_.peers[pdc.peer]).extra_response == 0;
}

// A peer and its host leave some room. Responses of unproven sources count for no peer: together
// they leave a quarter, but each may have one response, because new peers are among them. [PDS-255,
// T-01, T-02]
bool ResponseStore::is_within_limits(const Pdc& pdc, uint32_t places) const {
  const uint32_t all = res_.config.gd_entries;
  if (pdc.is_unverified()) {
    const uint32_t held = pdc.responses.held();
    return held == 0 || (held < kUnprovenResponses && leaves_reserve(places, free_places(), all));
  }
  // Even a peer with all used places would be within its share, so the shares need no look.
  if (is_within_shares(taken_, taken_, places, free_places(), all)) return true;
  const Peer& peer = res_.peers[pdc.peer];
  const uint32_t of_host = res_.peers.host_of(peer).responses;
  return is_within_shares(peer.responses, of_host, places, free_places(), all);
}

void ResponseStore::store(Pdc& pdc, const AckTrigger& trigger, const Verdict& verdict) {
  StoredResponse* const entry = add_entry(pdc, trigger);
  UET_ASSERT(entry != nullptr);  // may_store() was asked first
  fill(pdc, *entry, verdict);
}

// Reserves a place for a response that the client gives later. False: an initiator, for whose
// responses no room is reserved, found none; the packet then counts as answered. [PDS-075, PDS-108]
bool ResponseStore::await(Pdc& pdc, const AckTrigger& trigger) {
  StoredResponse* const entry = add_entry(pdc, trigger);
  UET_ASSERT(entry != nullptr || pdc.is_initiator());  // may_store() was asked first
  if (entry == nullptr) return false;
  return true;
}

StoredResponse* ResponseStore::add_entry(Pdc& pdc, const AckTrigger& trigger) {
  const bool in_order = pdc.rx.all_received_below(trigger.psn);
  const uint8_t places = places_of(pdc, trigger.psn, in_order);
  const bool is_extra =
      !pdc.is_initiator() && in_order && !has_room(pdc, places) && may_have_extra(pdc);
  if (!is_extra && places > free_places()) return nullptr;
  StoredResponse* const entry = responses_.alloc();
  if (entry == nullptr) return nullptr;
  entry->pdc = pdc.handle;
  entry->trigger = trigger;
  entry->is_extra = is_extra;
  entry->places = is_extra ? 0 : places;
  if (is_extra) set_extra(pdc, entry);
  enter(*entry);
  const bool is_last = pdc.responses.is_last(trigger.psn);
  pdc.responses.add(*entry, is_last ? nullptr : find_lower(pdc, trigger.psn));
  count(pdc, entry->places);
  return entry;
}

// The highest PSN below whose response holds up the cumulative ACK; null: none.
StoredResponse* ResponseStore::find_lower(const Pdc& pdc, Psn psn) {
  Psn lower = psn;
  return pdc.rx.find_held_below(lower) ? find(pdc, lower) : nullptr;
}

StoredResponse* ResponseStore::find(const Pdc& pdc, Psn psn) {
  for (uint32_t at = bucket_of(pdc.handle, psn); at != 0; at = responses_.at(at - 1).next) {
    StoredResponse& e = responses_.at(at - 1);
    if (e.pdc == pdc.handle && e.trigger.psn == psn) return &e;
  }
  return nullptr;
}

uint32_t& ResponseStore::bucket_of(PdcHandle pdc, Psn psn) {
  return buckets_[hash64(pdc.value(), psn.value(), seed_) & (buckets_.size() - 1)];
}

// Doubles the table and keeps all responses. False: no memory; nothing was changed.
bool ResponseStore::add_buckets() {
  const auto more = arena_->make_zero_span<uint32_t>(2 * buckets_.size());
  if (more.empty()) return false;
  buckets_ = more;
  responses_.for_each([this](StoredResponse& entry) { link(entry); });
  return true;
}

// One bucket for every two responses, so few buckets hold two. Without memory the lists become
// longer.
void ResponseStore::enter(StoredResponse& entry) {
  if (responses_.size() > 2 * buckets_.size() && add_buckets()) return;
  link(entry);
}

void ResponseStore::link(StoredResponse& entry) {
  uint32_t& bucket = bucket_of(entry.pdc, entry.trigger.psn);
  entry.next = bucket;
  bucket = responses_.handle(&entry).index() + 1;
}

void ResponseStore::forget(const StoredResponse& entry) {
  const uint32_t own = responses_.handle(&entry).index() + 1;
  uint32_t* at = &bucket_of(entry.pdc, entry.trigger.psn);
  while (*at != own) at = &responses_.at(*at - 1).next;
  *at = entry.next;
}

// Responses of an unproven source count for no peer until the source is proven. [PDS-255]
void ResponseStore::count(const Pdc& pdc, int places) {
  taken_ += static_cast<uint32_t>(places);
  if (!pdc.is_unverified()) res_.peers.count_responses(pdc.peer, places);
}

// Null: the place is free again.
void ResponseStore::set_extra(const Pdc& pdc, const StoredResponse* entry) {
  extra_taken_ += entry != nullptr ? 1 : -1U;
  res_.peers.host_of(pdc.peer).extra_response =
      entry != nullptr ? responses_.handle(entry).index() + 1 : 0;
}

// A response that waits for the application may wait for any time. It gives the place beyond the
// share of its host back as soon as another place is free. [PDS-109]
void ResponseStore::move_extra(PeerId peer) {
  const uint32_t extra = res_.peers.host_of(peer).extra_response;
  if (extra == 0 || !responses_.at(extra - 1).is_awaited) return;
  StoredResponse& entry = responses_.at(extra - 1);
  Pdc* const pdc = table_.get(entry.pdc);
  UET_ASSERT(pdc != nullptr);
  if (!has_room(*pdc, 1)) return;
  set_extra(*pdc, nullptr);
  entry.is_extra = false;
  pdc->responses.take_place(entry);
  count(*pdc, 1);
}

void ResponseStore::fill(Pdc& pdc, StoredResponse& entry, const Verdict& verdict) {
  entry.guaranteed = verdict.guaranteed;
  entry.response = verdict.response;
  pdc.responses.fill(entry);
  if (entry.guaranteed) res_.counters.add(Count::gd_stored);
  due_.push_back(entry);
  const uint32_t high_water = res_.config.gd_high_water_percent;
  if (pdc.responses.stored() * 100 >= res_.config.gd_per_pdc * high_water ||
      uint64_t{taken_} * 100 >= uint64_t{res_.config.gd_entries} * high_water ||
      !is_within_limits(pdc, 1)) {
    pdc.responses.want_clear();  // [PDS-106]
    schedule_.want_control(pdc);
  }
}

StoredResponse* ResponseStore::stored_for(Pdc& pdc, Psn psn) {
  StoredResponse* const entry = find(pdc, psn);
  return entry == nullptr || entry->is_awaited ? nullptr : entry;
}

// The response that filled a gap took no place, and the response above the gap took two. If the one
// above is freed first, it leaves one of its two places to the first.
void ResponseStore::free_stored(Pdc& pdc, StoredResponse& entry) {
  StoredResponse* const first = pdc.responses.first();
  if (entry.places == 2 && first->places == 0 && !first->is_extra) {
    first->places = 1;
    entry.places = 1;
  }
  count(pdc, -int{entry.places});
  if (entry.is_extra) set_extra(pdc, nullptr);
  forget(entry);
  pdc.responses.drop(entry);
  responses_.free(&entry);
  move_extra(pdc.peer);
}

// [PDS-102, PDS-103]
void ResponseStore::clear_up_to(Pdc& pdc, Psn clear_psn) {
  if (!clear_psn.after(pdc.responses.cleared())) return;
  if (clear_psn.after(pdc.rx.max_received())) return res_.counters.add(Count::drop_clear_range);
  pdc.responses.note_cleared(clear_psn);
  while (StoredResponse* const entry = pdc.responses.first()) {
    if (entry->trigger.psn.after(clear_psn)) break;
    if (entry->is_awaited) {  // the peer cannot clear a response that was not sent
      pdc.responses.note_cleared(entry->trigger.psn - 1);
      return res_.counters.add(Count::drop_clear_range);
    }
    if (entry->guaranteed) res_.counters.add(Count::gd_cleared);
    const Psn psn = entry->trigger.psn;
    free_stored(pdc, *entry);
    pdc.rx.unhold(res_.rx_pool, psn);
  }
}

}  // namespace uet::pds
