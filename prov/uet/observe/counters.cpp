// Collecting counters; see counters.h.
#include "prov/uet/observe/counters.h"

#include "prov/uet/api/compat.h"
#include "prov/uet/domain/domain.h"

#include <algorithm>

namespace uet::prov {
namespace {

// The sums over all engines, which count the same things in the same order.
std::vector<fi_uet_counter> read_counters(Domain& domain) {
  std::vector<fi_uet_counter> sums = read_counters(domain.first_engine());
  for (const DomainEngine& engine : domain.engines()) {
    if (engine.index == 0) continue;
    const std::vector<fi_uet_counter> more = read_counters(*engine.progress);
    for (size_t i = 0; i < std::min(sums.size(), more.size()); ++i) sums[i].value += more[i].value;
  }
  return sums;
}

}  // namespace

std::vector<fi_uet_counter> read_counters(ProgressEngine& engine, std::optional<Duration> limit) {
  constexpr size_t kEnough = 512;  // no memory is taken under the lock
  std::vector<fi_uet_counter> out;
  out.reserve(kEnough);
  const auto add = [&](const char* name, uint64_t value) { out.push_back({name, value}); };
  if (limit) {
    engine.inspect(*limit, [&](fep::Engine&, Instant) { engine.report_counters(add); });
  } else {
    const ProgressEngine::Entry entry(engine);
    engine.report_counters(add);
  }
  return out;
}

int copy_counters(Domain& domain, fi_uet_counter* out, size_t* count) {
  if (count == nullptr) return -FI_EINVAL;
  const std::vector<fi_uet_counter> all = read_counters(domain);
  const size_t room = *count;
  *count = all.size();
  if (room < all.size()) return -FI_ETOOSMALL;
  if (out == nullptr) return -FI_EINVAL;
  std::copy(all.begin(), all.end(), out);
  return 0;
}

int copy_counters(Domain& domain, void* list) {
  auto* const out = static_cast<fi_uet_counter_list*>(list);
  if (out == nullptr || out->size < sizeof *out) return -FI_EINVAL;
  return copy_counters(domain, out->counters, &out->count);
}

}  // namespace uet::prov
