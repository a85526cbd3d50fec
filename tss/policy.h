// Which packets a job accepts, as a table. The configuration binds jobs to secure domains.
// [TSS-074..078]
#pragma once

#include "base/hash_map.h"
#include "base/serial.h"

#include <cstdint>
#include <optional>

namespace uet::tss {

enum class Policy : uint8_t {
  none,     // clear packets only
  allow,    // both
  require,  // secured packets only; the default of a job with a domain
};

enum class Verdict : uint8_t {
  take,
  bypass,     // clear where security is required: in_rx_encryption_bypass_pkts [TSS-103]
  not_bound,  // of a domain that this job is not bound to: in_binding_failure_pkts [TSS-100]
};

// policy   | clear  | domain of the job | another domain
// none     | take   | not_bound         | not_bound
// allow    | take   | take              | not_bound
// require  | bypass | take              | not_bound
// `sdi` is that of the packet, 0 for a clear one; `is_bound`: the job is bound to it.
constexpr Verdict judge(Policy policy, uint32_t sdi, bool is_bound) {
  if (sdi == 0) return policy == Policy::require ? Verdict::bypass : Verdict::take;
  return policy != Policy::none && is_bound ? Verdict::take : Verdict::not_bound;
}

// Jobs and the domains they are bound to. SDI 0 stands for none, so no domain has it.
class JobTable {
 public:
  // For at most `bindings` pairs of job and domain.
  Result<void> create(Arena& arena, uint32_t bindings, uint64_t seed);

  // Jobs that are bound to no domain count as bound to `sdi`; 0: to none, and with `require` such a
  // job may not communicate. [TSS-077]
  void set_default(Policy policy, uint32_t sdi = 0) {
    default_ = policy;
    default_sdi_ = sdi;
  }
  // The job is bound to this domain; the first one is what its packets are sent in. Errc::invalid
  // for sdi 0, Errc::exists for a job that has another policy in an earlier domain, Errc::again
  // when the table is full; nothing was changed.
  Result<void> bind(JobId job, uint32_t sdi, Policy policy = Policy::require);

  // The job needs security, and has no domain: none of its packets may leave. [TSS-077]
  bool is_cut_off(JobId job) const {
    return policy_of(job) == Policy::require && domain_of(job) == 0;
  }
  // The domain of the job's packets; 0: in the clear. [TSS-074]
  uint32_t domain_of(JobId job) const;
  Policy policy_of(JobId job) const;
  // A packet of the job arrived in domain `sdi`, 0: in the clear. [TSS-075, TSS-077, TSS-093]
  Verdict judge_arrival(JobId job, uint32_t sdi) const;
  // A domain is being taken out of use: its jobs may begin nothing in it, started operations may
  // end. Stays so until reopen(). Domains without jobs are not noted. [TSS-146]
  void close(uint32_t sdi);
  void reopen(uint32_t sdi);
  bool is_closing(uint32_t sdi) const {
    return closing_.size() != 0 && closing_.find(sdi) != nullptr;
  }
  // The job sends in such a domain.
  bool is_closing(JobId job) const { return closing_.size() != 0 && is_closing(domain_of(job)); }
  // Some clear packet may be taken; else all of them are refused before they are read. [TSS-084]
  bool clear_may_pass() const { return default_ != Policy::require || jobs_allowing_clear_ > 0; }
  uint32_t default_domain() const { return default_sdi_; }

 private:
  struct Job {
    uint32_t sdi;
    Policy policy;
  };
  struct Binding {
    JobId job;
    uint32_t sdi;
    bool operator==(const Binding&) const = default;
    friend uint64_t hash_of(const Binding& b, uint64_t seed) {
      return hash64(b.job.value(), b.sdi, seed);
    }
  };

  HashMap<JobId, Job> jobs_;
  HashMap<Binding, bool> bindings_;
  HashMap<uint32_t, bool> closing_;
  Policy default_ = Policy::none;
  uint32_t default_sdi_ = 0;
  uint32_t jobs_allowing_clear_ = 0;
};

}  // namespace uet::tss
