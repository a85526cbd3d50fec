// Responses by PSN: stored, found again, cleared. [PDS 9]
#include "pds/rx/response_store.h"

#include <algorithm>

namespace uet::pds {

// Room for the response of a packet. Clears are cumulative, so responses above a gap stay until the
// gap is filled: they must leave room for the packet that fills it, here and in every other PDC, or
// all of them would wait for each other for ever. [PDS-101, PDS-102, PDS-109]
bool ResponseStore::may_store(const Pdc& pdc, bool fills_gap) const {
  const uint32_t keep_here = fills_gap ? 0 : 1;
  const uint32_t keep_in_all = fills_gap ? 0 : std::min(table_.size(), responses_.capacity() / 2);
  return pdc.responses.held() + keep_here < res_.config.gd_per_pdc &&
         responses_.size() + keep_in_all < responses_.capacity();
}

void ResponseStore::store(Pdc& pdc, const AckTrigger& trigger, const Verdict& verdict) {
  StoredResponse* const entry = add_entry(pdc, trigger);
  UET_ASSERT(entry != nullptr);  // may_store() was asked first
  fill(pdc, *entry, verdict);
}

// The place of a response that the client will give later. False: an initiator, whose responses
// have no room kept for them, found none; the packet then counts as answered. [PDS-075, PDS-108]
bool ResponseStore::await(Pdc& pdc, const AckTrigger& trigger) {
  StoredResponse* const entry = add_entry(pdc, trigger);
  UET_ASSERT(entry != nullptr || pdc.is_initiator());  // may_store() was asked first
  if (entry == nullptr) return false;
  return true;
}

StoredResponse* ResponseStore::add_entry(Pdc& pdc, const AckTrigger& trigger) {
  StoredResponse* const entry = responses_.alloc();
  if (entry == nullptr) return nullptr;
  entry->pdc = pdc.handle;
  entry->trigger = trigger;
  pdc.responses.add(*entry);
  return entry;
}

void ResponseStore::fill(Pdc& pdc, StoredResponse& entry, const Verdict& verdict) {
  entry.guaranteed = verdict.guaranteed;
  entry.response = verdict.response;
  pdc.responses.fill(entry);
  if (entry.guaranteed) res_.counters.add(Count::gd_stored);
  due_.push_back(entry);
  const uint32_t high_water = res_.config.gd_high_water_percent;
  if (pdc.responses.stored() * 100 >= res_.config.gd_per_pdc * high_water ||
      uint64_t{responses_.size()} * 100 >= uint64_t{responses_.capacity()} * high_water) {
    pdc.responses.want_clear();  // [PDS-106]
    schedule_.want_control(pdc);
  }
}

StoredResponse* ResponseStore::stored_for(Pdc& pdc, Psn psn) {
  StoredResponse* const entry = pdc.responses.find(psn);
  return entry == nullptr || entry->is_awaited ? nullptr : entry;
}

void ResponseStore::free_stored(Pdc& pdc, StoredResponse& entry) {
  pdc.responses.drop(entry);
  responses_.free(&entry);
}

// [PDS-102, PDS-103]
void ResponseStore::clear_up_to(Pdc& pdc, Psn clear_psn) {
  if (!clear_psn.after(pdc.responses.cleared())) return;
  if (clear_psn.after(pdc.rx.max_received())) return res_.counters.add(Count::drop_clear_range);
  pdc.responses.note_cleared(clear_psn);
  while (StoredResponse* const entry = pdc.responses.first()) {
    if (entry->trigger.psn.after(clear_psn)) break;
    if (entry->is_awaited) {  // nobody can have seen an answer that was not given
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
