// The libfabric domain. Owns its engines, each a FEP of this process, the endpoint names in use and
// what all objects below it share. [LF-001, architecture 5]
#pragma once

#include "prov/uet/api/shim.h"
#include "prov/uet/domain/domain_terms.h"
#include "prov/uet/domain/engines.h"
#include "prov/uet/domain/fabric.h"
#include "prov/uet/domain/name_claims.h"
#include "prov/uet/observe/failure_watch.h"
#include "prov/uet/progress/progress.h"

#include "base/result.h"
#include "io/host/routes.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace uet::prov {

class EventQueue;
struct DomainStatus;

class Domain {
 public:
  using Link = FidLink<fid_domain, Domain>;
  static fi_ops* fid_ops();

  // The fabric's domain and domain2 operations in one shape: opens the packet backend and the
  // engine. -FI_EINVAL for an `info` that is null or has no attributes.
  static int open(Fabric& fabric, const fi_info* info, uint64_t flags, fid_domain** fid,
                  void* context);
  ~Domain();
  // -FI_EBUSY while anything below is open. Waits briefly for PDCs to close in order.
  int close();
  int bind(struct fid* fid, uint64_t flags);
  int control(int command, void* arg);
  // For the end of the process: waits until `end` for peers to confirm operations that were
  // reported as complete; then the engines retire.
  void finish(Instant end);

  DomainEngines& engines() { return engines_; }
  // The engine of all objects but endpoints; a domain with keys in its address vectors has no other
  // engine.
  ProgressEngine& first_engine() { return *engines_.first().progress; }
  // The process that opened the domain. In a forked child no object is opened in it.
  const Home& home() const { return engines_.first().progress->home(); }
  Fabric& fabric() { return fabric_; }
  const Settings& settings() const { return fabric_.settings(); }
  uint32_t api_version() const { return fabric_.api_version(); }
  fid_domain* fid() { return &link_.fid; }
  EventQueue* eq() { return eq_; }
  // Registrations report their end there; null: they do not. [fi_domain_bind, FI_REG_MR]
  EventQueue* registration_eq() { return registration_eq_; }

  // Subscribers of network failures.
  FailureWatch& failures() { return failures_; }

  // Its terms and its location.
  const DomainTerms& terms() const { return terms_; }
  // Whether objects of other providers are accepted (FI_PEER); false after a warning. [LF-159]
  bool may_import(const char* call) const;
  // False: its job needs a secure domain and has none. [TSS-077]
  bool may_talk(JobId job) const;
  // Sizes of packets on routes to peers. Set-up lock held.
  io::Routes& routes() { return routes_; }
  // The names of its endpoints.
  NameClaims& names() { return claims_; }

  // For the helper thread of that engine: all that does not change but by endpoints coming and
  // going.
  void describe(const DomainEngine& engine, DomainStatus& out) const;

  void add_ref() { ++refs_; }
  void drop_ref() { --refs_; }

 private:
  Domain(Fabric& fabric, const fi_info& info, void* context);
  int start(const fi_info& info);
  uint32_t engine_count() const;

  Link link_;
  Fabric& fabric_;
  FailureWatch failures_;
  DomainEngines engines_;
  EventQueue* eq_ = nullptr;
  EventQueue* registration_eq_ = nullptr;
  std::atomic<uint32_t> refs_{0};

  DomainTerms terms_;
  io::Routes routes_;
  NameClaims claims_;
};

}  // namespace uet::prov
