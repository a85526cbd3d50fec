// Collecting counters, and the operations of fi_ext_uet.h.
#include "prov/uet/observe/counters.h"

#include "prov/uet/api/shim.h"
#include "prov/uet/domain/domain.h"
#include "prov/uet/endpoint/ep.h"

#include <algorithm>
#include <cstring>

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

Domain* domain_of(fid* fid) {
  if (auto* domain = checked_object_of<Domain>(fid)) return domain;
  if (auto* endpoint = checked_object_of<Endpoint>(fid)) return &endpoint->core().domain();
  return nullptr;
}

int read(fid* fid, fi_uet_counter* out, size_t* count) {
  Domain* const domain = domain_of(fid);
  if (domain == nullptr || count == nullptr) return -FI_EINVAL;
  const std::vector<fi_uet_counter> all = read_counters(*domain);
  const size_t room = *count;
  *count = all.size();
  if (room < all.size()) return -FI_ETOOSMALL;
  if (out == nullptr) return -FI_EINVAL;
  std::copy(all.begin(), all.end(), out);
  return 0;
}

int read_op(fid* fid, fi_uet_counter* out, size_t* count) noexcept {
  return guard([&] { return read(fid, out, count); });
}

fi_uet_ops_counters counter_ops = {sizeof(fi_uet_ops_counters), read_op};

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

int control_counters(fid* fid, void* arg) noexcept {
  auto* const list = static_cast<fi_uet_counter_list*>(arg);
  if (list == nullptr || list->size < sizeof *list) return -FI_EINVAL;
  return read_op(fid, list->counters, &list->count);
}

int open_ops(fid* fid, const char* name, uint64_t flags, void** ops, void*) noexcept {
  if (fid == nullptr || name == nullptr || ops == nullptr) return -FI_EINVAL;
  if (flags != 0) return -FI_EBADFLAGS;
  if (strcmp(name, FI_UET_COUNTERS) != 0) return -FI_ENOSYS;
  *ops = &counter_ops;
  return 0;
}

}  // namespace uet::prov
