// The list of open domains.
#include "prov/uet/domain/open_domains.h"

#include "prov/uet/domain/domain.h"
#include "prov/uet/progress/home.h"

#include <chrono>
#include <mutex>
#include <thread>

namespace uet::prov {
namespace {

// The lock of the list for the end of the process, which may come in a signal's handler while the
// same thread holds it: not owned after a while.
std::unique_lock<std::mutex> lock_at_end() {
  std::unique_lock lock(open_objects(), std::try_to_lock);
  for (int i = 0; !lock && i < 1000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    static_cast<void>(lock.try_lock());
  }
  return lock;
}

}  // namespace

OpenDomains& open_domains() {
  static auto* const kDomains = new OpenDomains;
  return *kDomains;
}

void OpenDomains::add(Domain& domain) {
  const std::lock_guard lock(open_objects());
  domains_.push_back(&domain);
}

void OpenDomains::remove(Domain& domain) {
  const std::lock_guard lock(open_objects());
  std::erase(domains_, &domain);
}

std::optional<FabricAddress> OpenDomains::address_of(const fid_domain* fid) {
  const std::lock_guard lock(open_objects());
  for (Domain* domain : domains_) {
    if (domain->fid() == fid) return domain->terms().local;
  }
  return std::nullopt;
}

fid_domain* OpenDomains::first_at(const FabricAddress& address) {
  const std::lock_guard lock(open_objects());
  for (Domain* domain : domains_) {
    const FabricAddress& local = domain->terms().local;
    if (domain->home().is_elsewhere()) continue;
    if (local.family == address.family && local.ip == address.ip) return domain->fid();
  }
  return nullptr;
}

void OpenDomains::stop_all() {
  const std::unique_lock lock = lock_at_end();
  if (!lock) return;
  const Instant begin = monotonic_now();
  for (Domain* domain : domains_) {
    if (!domain->home().is_elsewhere()) domain->finish(begin + domain->settings().linger);
  }
}

}  // namespace uet::prov
