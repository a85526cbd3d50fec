// Names of endpoints; see endpoint_names.h.
#include "prov/uet/domain/endpoint_names.h"

#include "prov/uet/address/address.h"

#include <algorithm>

namespace uet::prov {

static_assert(kBaseRi == 1 && kFieldMax == 4095);

bool EndpointNames::take(uint16_t pid, uint16_t ri) {
  Process& process = processes_[pid];
  if (process.taken.test(ri)) return false;
  process.taken.set(ri);
  ++size_;
  return true;
}

uint16_t EndpointNames::take_any(uint16_t pid) {
  Process& process = processes_[pid];
  while (process.lowest <= kFieldMax && process.taken.test(process.lowest)) ++process.lowest;
  if (process.lowest > kFieldMax) return 0;
  process.taken.set(process.lowest);
  ++size_;
  return process.lowest++;
}

void EndpointNames::release(uint16_t pid, uint16_t ri) {
  const auto found = processes_.find(pid);
  if (found == processes_.end() || !found->second.taken.test(ri)) return;
  Process& process = found->second;
  process.taken.reset(ri);
  if (ri >= kBaseRi) process.lowest = std::min(process.lowest, ri);
  --size_;
  if (process.taken.none()) processes_.erase(found);
}

std::vector<std::pair<uint16_t, uint16_t>> EndpointNames::list() const {
  std::vector<std::pair<uint16_t, uint16_t>> all;
  all.reserve(size_);
  for (const auto& [pid, process] : processes_) {
    for (uint16_t ri = 0; ri < kIndices; ++ri) {
      if (process.taken.test(ri)) all.emplace_back(pid, ri);
    }
  }
  return all;
}

}  // namespace uet::prov
