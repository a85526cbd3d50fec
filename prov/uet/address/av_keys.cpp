// Authorization keys of an address vector; see av_keys.h. Free places are used again, the lowest
// first, like those of addresses.
#include "prov/uet/address/av_keys.h"

#include <algorithm>

namespace uet::prov {

Result<fi_addr_t> AvKeys::add(JobId job) {
  auto free = std::find_if(keys_.begin(), keys_.end(), [](const Key& k) { return !k.live; });
  if (free == keys_.end()) {
    if (keys_.size() == kKeysMax) return Errc::again;
    free = keys_.emplace(keys_.end());
  }
  *free = {job, 0, true};
  return kIsKey | static_cast<fi_addr_t>(free - keys_.begin());
}

const AvKeys::Key* AvKeys::at(fi_addr_t key) const {
  const fi_addr_t index = key ^ kIsKey;
  return index < keys_.size() && keys_[index].live ? &keys_[index] : nullptr;
}

AvKeys::Key* AvKeys::at(fi_addr_t key) {
  return const_cast<Key*>(static_cast<const AvKeys*>(this)->at(key));
}

int AvKeys::remove(fi_addr_t key) {
  Key* const k = at(key);
  if (k == nullptr) return -FI_EINVAL;
  if (k->endpoints != 0) return -FI_EBUSY;
  k->live = false;
  return 0;
}

const JobId* AvKeys::find(fi_addr_t key) const {
  const Key* const k = at(key);
  return k != nullptr ? &k->job : nullptr;
}

fi_addr_t AvKeys::of(JobId job) const {
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (keys_[i].live && keys_[i].job == job) return kIsKey | i;
  }
  return FI_ADDR_NOTAVAIL;
}

std::vector<JobId> AvKeys::jobs() const {
  std::vector<JobId> all;
  for (const Key& k : keys_) {
    if (k.live && std::find(all.begin(), all.end(), k.job) == all.end()) all.push_back(k.job);
  }
  return all;
}

std::vector<fi_addr_t> AvKeys::hold() {
  std::vector<fi_addr_t> held;
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (!keys_[i].live) continue;
    ++keys_[i].endpoints;
    held.push_back(kIsKey | i);
  }
  return held;
}

void AvKeys::release(const std::vector<fi_addr_t>& held) {
  for (const fi_addr_t key : held) --at(key)->endpoints;
}

}  // namespace uet::prov
