// The libfabric domain: one FEP of this process. Owns the engine, the endpoint names in use and
// what all objects below it share. [LF-001, architecture 5]
#pragma once

#include "prov/uet/address/address.h"
#include "prov/uet/api/shim.h"
#include "prov/uet/domain/endpoint_names.h"
#include "prov/uet/domain/fabric.h"
#include "prov/uet/domain/payload_mtu.h"
#include "prov/uet/observe/failure_watch.h"
#include "prov/uet/progress/progress.h"

#include "ses/types.h"

#include "base/result.h"
#include "base/rng.h"
#include "io/routes.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace uet::prov {

class EventQueue;
struct DomainStatus;

class Domain {
 public:
  using Link = FidLink<fid_domain, Domain>;
  static fi_ops* fid_ops();
  static Domain& from(fid_domain* fid) { return object_of<Domain>(fid); }
  static Domain& from(struct fid* fid) { return object_of<Domain>(fid); }

  // The fabric's domain operation: opens the packet backend and the engine.
  static int open(Fabric& fabric, const fi_info& info, fid_domain** fid, void* context);
  // For fi_getinfo. Where an open domain is; nothing when `fid` is not an open domain of uet.
  static std::optional<FabricAddress> address_of(const fid_domain* fid);
  // The first one that was opened there, or null. The port does not matter.
  static fid_domain* first_open_at(const FabricAddress& address);
  // For the end of the process: retires the engines of all domains that are still open. Nothing is
  // taken away: other threads may be inside, and come again until the process is gone. [ABI-015]
  static void stop_all();
  ~Domain();
  // -FI_EBUSY while anything below is open. Waits briefly for PDCs to close in order.
  int close();
  int bind(struct fid* fid, uint64_t flags);

  ProgressEngine& engine() { return *engine_; }
  Fabric& fabric() { return fabric_; }
  const Settings& settings() const { return fabric_.settings(); }
  uint32_t api_version() const { return fabric_.api_version(); }
  fid_domain* fid() { return &link_.fid; }
  EventQueue* eq() { return eq_; }
  // Registrations report their end there; null: they do not. [fi_domain_bind, FI_REG_MR]
  EventQueue* registration_eq() { return registration_eq_; }

  // Who is told when the network fails.
  FailureWatch& failures() { return failures_; }

  // What was agreed on in fi_getinfo.
  int mr_mode() const { return mr_mode_; }
  // FI_MR_BASIC is the provider's keys and virtual addresses by one name. [LF-151]
  bool gives_keys() const { return (mr_mode_ & (FI_MR_PROV_KEY | kMrBasic)) != 0; }
  bool has_virtual_addresses() const { return (mr_mode_ & kMrBasic) != 0; }
  uint64_t caps() const { return caps_; }
  uint32_t addr_format() const { return addr_format_; }
  // Octets of payload in packets of the network; stated in addresses of this domain. [LF-131]
  uint32_t payload_mtu() const { return payload_.network; }
  const OwnPayload& payload() const { return payload_; }
  // What routes to peers carry. With the engine's lock.
  io::Routes& routes() { return routes_; }
  const std::string& name() const { return name_; }
  // The address that peers reach this domain at.
  const FabricAddress& local() const { return local_; }
  JobId job() const { return job_; }
  // Opened with FI_AV_AUTH_KEY: the jobs are those of the address vectors. [LF-019]
  bool has_av_keys() const { return has_av_keys_; }

  // A name for an endpoint. `source` is fi_info.src_addr in the form `addr_format`, or null: valid
  // fields are requests, the others are filled in. Errc::exists: a requested name is taken;
  // Errc::invalid: no address of that form, or of another Fabric Address. [LF-010, LF-011]
  // `auth_key` is a JobID of its own, or null for the domain's. [LF-017, LF-018]
  Result<ses::EndpointName> claim_name(const void* source, size_t source_bytes,
                                       uint32_t addr_format, const uint8_t* auth_key,
                                       size_t auth_key_bytes);
  void release_name(const ses::EndpointName& name);
  // That are open, enabled or not.
  size_t endpoint_count() const;
  // The address of an endpoint in the form `addr_format`, as fi_getname does: copies what fits in
  // *length octets, sets *length to the full size; -FI_ETOOSMALL when cut.
  int write_name(const ses::EndpointName& name, uint32_t addr_format, void* address,
                 size_t* length) const;

  // For the helper thread: all that does not change but by endpoints coming and going.
  void describe(DomainStatus& out) const;

  void add_ref() { ++refs_; }
  void drop_ref() { --refs_; }

 private:
  Domain(Fabric& fabric, const fi_info& info, void* context);
  int start(const fi_info& info);
  void flush(Duration limit);
  bool take_name(ses::EndpointName& name, const UetAddress& request);

  Link link_;
  Fabric& fabric_;
  FailureWatch failures_;
  std::unique_ptr<ProgressEngine> engine_;
  EventQueue* eq_ = nullptr;
  EventQueue* registration_eq_ = nullptr;
  std::atomic<uint32_t> refs_{0};

  uint64_t caps_;
  int mr_mode_;
  uint32_t addr_format_;
  OwnPayload payload_;
  io::Routes routes_;
  FabricAddress local_;
  std::string name_;
  std::string fabric_name_;
  JobId job_;
  bool has_av_keys_;
  PidOnFep pid_;  // of endpoints that do not ask for one

  mutable std::mutex names_mutex_;
  Rng rng_;  // for names
  EndpointNames names_;
};

}  // namespace uet::prov
