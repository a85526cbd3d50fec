// Starting and ending engines; see engines.h.
#include "prov/uet/domain/engines.h"

#include "prov/uet/domain/info.h"
#include "prov/uet/domain/setup.h"

#include <algorithm>

namespace uet::prov {

int DomainEngines::start(uint32_t count, const Settings& settings, const DomainCandidate& candidate,
                         const fi_domain_attr& attr, OwnPayload& payload) {
  engines_.resize(count);
  DomainCandidate wanted = candidate;
  for (uint32_t i = 0; i < count; ++i) {
    engines_[i].index = i;
    if (const int error = set_up_engine(settings, wanted, attr, engines_[i], payload); error != 0)
      return error;
    // The requested ports belong to the first engine.
    wanted.interface.address.port = kUetPort;
    wanted.leave_uet_port = true;
  }
  return 0;
}

DomainEngines::~DomainEngines() {
  // The first one's helper looks at the others.
  for (const DomainEngine& engine : engines_) {
    if (engine.progress != nullptr) engine.progress->helper().stop();
  }
}

DomainEngine& DomainEngines::least_used() {
  return *std::ranges::min_element(engines_, {}, &DomainEngine::endpoints);
}

void DomainEngines::drain(Duration limit) {
  const Instant end = monotonic_now() + limit;
  for (const DomainEngine& engine : engines_) {
    engine.progress->drain(std::max(end - monotonic_now(), Duration::zero()));
  }
}

uint32_t DomainEngines::flush_copies(Duration limit) {
  const Instant end = monotonic_now() + limit;
  uint32_t left = 0;
  for (const DomainEngine& engine : engines_) {
    left += engine.progress->flush_copies(std::max(end - monotonic_now(), Duration::zero()));
  }
  return left;
}

void DomainEngines::retire() {
  for (const DomainEngine& engine : engines_) engine.progress->retire();
}

}  // namespace uet::prov
