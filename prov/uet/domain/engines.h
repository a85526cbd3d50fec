// The engines of a domain, as many as FI_UET_ENGINES says: each with the address where peers find
// it and the keys of its packets. Each endpoint runs in one of them. [LF-145, decision 27]
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/domain/payload_mtu.h"
#include "prov/uet/domain/security.h"
#include "prov/uet/progress/progress.h"
#include "prov/uet/settings/settings.h"

#include "base/packet.h"
#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace uet::prov {

struct DomainCandidate;

struct DomainEngine {
  uint32_t index = 0;  // in its domain
  FabricAddress local;
  std::shared_ptr<Security> security;  // null: all packets go in the clear; outlives the engine
  std::unique_ptr<ProgressEngine> progress;
  uint32_t endpoints = 0;  // that run in it; under set_up_lock()
};

// Owns them. The same ones, at the same places, from start() on.
class DomainEngines {
 public:
  // `count` of them, the first at the address of `candidate`. 0, or a negative errno after a
  // warning that names the remedy. `payload`: of packets, the same for each.
  int start(uint32_t count, const Settings& settings, const DomainCandidate& candidate,
            const fi_domain_attr& attr, OwnPayload& payload);
  // Ends all helper threads before the first engine ends.
  ~DomainEngines();

  auto begin() { return engines_.begin(); }
  auto end() { return engines_.end(); }
  auto begin() const { return engines_.begin(); }
  auto end() const { return engines_.end(); }
  size_t size() const { return engines_.size(); }
  DomainEngine& operator[](size_t index) { return engines_[index]; }
  DomainEngine& first() { return engines_.front(); }
  const DomainEngine& first() const { return engines_.front(); }

  // Set-up calls that concern several engines hold it, so they run one after the other: insertions
  // in address vectors, registrations, endpoints that choose their engine. Lock order: this lock
  // before the lock of an engine.
  std::mutex& set_up_lock() { return set_up_lock_; }
  // The one with the fewest endpoints. Set-up lock held.
  DomainEngine& least_used();

  // See ProgressEngine; all of them within `limit`.
  void drain(Duration limit);
  uint32_t flush_copies(Duration limit);
  void retire();

 private:
  std::vector<DomainEngine> engines_;
  std::mutex set_up_lock_;
};

}  // namespace uet::prov
