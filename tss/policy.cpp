// Jobs and their domains. [TSS-074, TSS-075]
#include "tss/policy.h"

namespace uet::tss {

Result<void> JobTable::create(Arena& arena, uint32_t bindings, uint64_t seed) {
  UET_CHECK(jobs_.create(arena, bindings, seed));
  return bindings_.create(arena, bindings, seed);
}

Result<void> JobTable::bind(JobId job, uint32_t sdi, Policy policy) {
  if (sdi == 0) return Errc::invalid;
  const Job* const known = jobs_.find(job);
  if (known != nullptr && known->policy != policy) return Errc::exists;
  if (bindings_.full()) return Errc::again;
  const auto bound = bindings_.insert({job, sdi}, true);
  if (!bound.ok()) return bound.error();
  if (known != nullptr) return {};
  const auto added = jobs_.insert(job, {sdi, policy});
  UET_ASSERT(added.ok());
  if (policy != Policy::require) ++jobs_allowing_clear_;
  return {};
}

uint32_t JobTable::domain_of(JobId job) const {
  const Job* const known = jobs_.find(job);
  if (known == nullptr) return default_ == Policy::none ? 0 : default_sdi_;
  return known->policy == Policy::none ? 0 : known->sdi;
}

Policy JobTable::policy_of(JobId job) const {
  const Job* const known = jobs_.find(job);
  return known == nullptr ? default_ : known->policy;
}

Verdict JobTable::judge_arrival(JobId job, uint32_t sdi) const {
  const bool is_listed = jobs_.find(job) != nullptr;
  const bool is_bound =
      is_listed ? bindings_.find({job, sdi}) != nullptr : sdi != 0 && sdi == default_sdi_;
  return judge(policy_of(job), sdi, is_bound);
}

}  // namespace uet::tss
