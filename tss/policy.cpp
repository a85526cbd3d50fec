// Jobs and their domains. [TSS-074, TSS-075]
#include "tss/policy.h"

namespace uet::tss {

Result<void> JobTable::create(Arena& arena, uint32_t bindings, uint64_t seed) {
  UET_CHECK(jobs_.create(arena, bindings, seed));
  UET_CHECK(bindings_.create(arena, bindings, seed));
  return closing_.create(arena, bindings + 1, seed);  // and the entry of all other jobs
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

void JobTable::close(uint32_t sdi) {
  bool is_used = sdi == default_sdi_;
  bindings_.for_each([&](const Binding& b, bool&) { is_used |= b.sdi == sdi; });
  if (sdi == 0 || !is_used) return;
  const auto noted = closing_.insert(sdi, true);
  UET_ASSERT(noted.ok() || noted.error() == Errc::exists);
}

void JobTable::reopen(uint32_t sdi) { closing_.erase(sdi); }

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
