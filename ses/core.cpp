// Shared state of SES: creation and the look-up of endpoints.
#include "ses/core.h"

namespace uet::ses {

Result<void> Core::create(uint64_t seed) {
  Rng split(seed, 4);
  UET_CHECK(long_iovs.create(*arena, config.long_iovs));
  UET_CHECK(memory.create(*arena, config.memory_regions, split.u64()));
  UET_CHECK(ids.create(*arena));
  if (config.endpoints == 0 || config.endpoints > 1u << kEndpointIndexBits) return Errc::invalid;
  endpoints = arena->make_span<Endpoint*>(config.endpoints);
  if (endpoints.empty()) return Errc::no_memory;
  return {};
}

Endpoint* Core::find_endpoint(bool absolute, JobId job, PidOnFep pid, ResourceIndex ri) {
  // A FEP has few endpoints; the last one found is mostly the next one asked for.
  const auto has_name = [&](const Endpoint* ep) {
    return ep != nullptr && ep->is_open && ep->name.absolute == absolute && ep->name.pid == pid &&
           ep->name.ri == ri && (absolute || ep->name.job == job);
  };
  if (has_name(last_found)) return last_found;
  for (Endpoint* ep : endpoints) {
    if (has_name(ep)) return last_found = ep;
  }
  return nullptr;
}

Endpoint* Core::find_process(bool absolute, JobId job, PidOnFep pid) {
  for (Endpoint* ep : endpoints) {
    if (ep != nullptr && ep->is_open && ep->name.absolute == absolute && ep->name.pid == pid &&
        (absolute || ep->name.job == job)) {
      return ep;
    }
  }
  return nullptr;
}

}  // namespace uet::ses
