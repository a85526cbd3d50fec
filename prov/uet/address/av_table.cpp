// Entries that come and go; see av_table.h.
#include "prov/uet/address/av_table.h"

#include "base/assert.h"

#include <algorithm>

namespace uet::prov {

AvTable::AvTable(uint64_t index_mask, bool has_keys, size_t expected)
    : index_mask_(index_mask), has_keys_(has_keys) {
  entries_.reserve(expected);
}

uint64_t AvTable::free_from(uint64_t index) const {
  const auto at = free_.lower_bound(index);
  return at != free_.end() ? *at : std::max<uint64_t>(index, entries_.size());
}

void AvTable::add(uint64_t index, const UetAddress& address, const ses::Destination& to) {
  // Indices that another engine's table may not have yet are left free here.
  for (uint64_t i = entries_.size(); i < index; ++i) free_.insert(i);
  if (index >= entries_.size()) {
    entries_.resize(index + 1);
  } else {
    free_.erase(index);
  }
  Entry& e = entries_[index];
  e = {};
  e.address = address;
  e.to = to;
  e.called = index;
  if (address.has_initiator) join_sender(index);
  e.live = true;
}

bool AvTable::remove(fi_addr_t addr) {
  const uint64_t index = addr & index_mask_;
  Entry& e = entries_[index];
  e.live = false;
  if (e.address.has_initiator) leave_sender(index);
  if (e.unreported == 0 && e.in_flight == 0) {
    free_.insert(index);
    return true;
  }
  e.leaving = true;
  ended_.reserve(++leaving_);
  return false;
}

void AvTable::end_operation(fi_addr_t addr, bool unreported) {
  const uint64_t index = addr & index_mask_;
  Entry& e = entries_[index];
  --(unreported ? e.unreported : e.in_flight);
  if (e.leaving && e.unreported == 0 && e.in_flight == 0) ended_.push_back(index);
}

// Of several entries for one sender the oldest is reported. [LF-015, LF-016]
void AvTable::join_sender(uint64_t index) {
  Entry& e = entries_[index];
  const auto [at, is_first] = reverse_.try_emplace(source_of(e.to), Entries{index, index});
  if (is_first) return;
  e.older = std::exchange(at->second.newest, index);
  entries_[e.older].newer = index;
}

void AvTable::leave_sender(uint64_t index) {
  const Entry& e = entries_[index];
  const auto at = reverse_.find(source_of(e.to));
  UET_ASSERT(at != reverse_.end());
  if (e.older == kNone && e.newer == kNone) {
    reverse_.erase(at);
    return;
  }
  (e.older == kNone ? at->second.oldest : entries_[e.older].newer) = e.newer;
  (e.newer == kNone ? at->second.newest : entries_[e.newer].older) = e.older;
}

fi_addr_t AvTable::reverse(PeerId peer, uint32_t initiator_id, JobId job) const {
  const JobId of_key = has_keys_ ? job : JobId();
  const auto at = reverse_.find({peer, initiator_id, of_key});
  return at != reverse_.end() ? entries_[at->second.oldest].called : FI_ADDR_NOTAVAIL;
}

}  // namespace uet::prov
