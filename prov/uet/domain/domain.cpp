// The libfabric domain; see domain.h.
#include "prov/uet/domain/domain.h"

#include "prov/uet/address/av_keys.h"
#include "prov/uet/api/log.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/completion/eq.h"
#include "prov/uet/domain/info.h"
#include "prov/uet/domain/open_domains.h"
#include "prov/uet/domain/security.h"
#include "prov/uet/domain/setup.h"
#include "prov/uet/observe/counters.h"
#include "prov/uet/observe/domain_errand.h"
#include "prov/uet/observe/status.h"

#include "io/socket.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace uet::prov {
namespace {

// How long fi_close waits for peers to agree to the end of their connections. A silent peer must
// not hold the application up; the peer's own time-outs close the rest.
constexpr Duration kDrainTime = Duration::milliseconds(500);

// Whether the destination is found at port 4793 of that address, where another process of this host
// must then be able to bind it: whichever of the two starts first. [LF-132]
bool leaves_uet_port(const fi_info& info, const FabricAddress& local) {
  if (info.dest_addr == nullptr) return false;
  const auto peer = read_address(info.addr_format, info.dest_addr, info.dest_addrlen);
  return peer.ok() && peer->fa.family == local.family && peer->fa.ip == local.ip &&
         peer->fa.port == kUetPort;
}

// The interface that an fi_info was made for: by its source address, or by its name alone.
std::optional<DomainCandidate> candidate_of(const Settings& settings, const fi_info& info) {
  if (info.src_addr != nullptr) {
    const auto source = read_address(info.addr_format, info.src_addr, info.src_addrlen);
    if (!source.ok()) return std::nullopt;
    if (source->fa.valid()) {
      std::optional<DomainCandidate> candidate = find_domain(settings, source->fa);
      // The very port block, as after a restart.
      if (candidate) candidate->interface.address.port = source->fa.port;
      return candidate;
    }
  }
  if (info.domain_attr->name == nullptr) return std::nullopt;
  return find_domain(settings, std::string(info.domain_attr->name));
}

// The domain's own JobID. [LF-018]
std::optional<uint32_t> job_of(const Settings& settings, const fi_domain_attr& attr) {
  constexpr uint32_t kNoJob = 1;  // of nothing that is sent
  if (attr.auth_key_size == kKeysFromAv) return kNoJob;
  if (attr.auth_key_size != 0) return job_of_key(attr.auth_key, attr.auth_key_size);
  return settings.job_id;
}

DomainTerms terms_of(const fi_info& info) {
  DomainTerms terms;
  terms.caps = info.caps;
  terms.has_peers = (info.domain_attr->caps & FI_PEER) != 0;
  terms.mr_mode = info.domain_attr->mr_mode;
  terms.addr_format = info.addr_format;
  terms.has_av_keys = info.domain_attr->auth_key_size == kKeysFromAv;
  terms.has_key = info.domain_attr->auth_key_size != 0 && !terms.has_av_keys;
  return terms;
}

// Random, so that stale packets of a former owner of the port find no endpoint.
PidOnFep pid_of(const Settings& settings) {
  Rng rng(os_random());
  const auto any = static_cast<uint16_t>(1 + rng.below(kFieldMax));
  return PidOnFep{settings.pid_on_fep.value_or(any)};
}

}  // namespace

fi_ops* Domain::fid_ops() { return &domain_fid_ops; }

int Domain::open(Fabric& fabric, const fi_info* info, uint64_t flags, fid_domain** fid,
                 void* context) {
  if (flags != 0) return -FI_EBADFLAGS;
  if (info == nullptr || fid == nullptr || info->domain_attr == nullptr) return -FI_EINVAL;
  std::unique_ptr<Domain> domain(new Domain(fabric, *info, context));
  if (const int error = domain->start(*info); error != 0) return error;
  open_domains().add(*domain);
  *fid = &domain.release()->link_.fid;
  return 0;
}

Domain::Domain(Fabric& fabric, const fi_info& info, void* context)
    : fabric_(fabric),
      terms_(terms_of(info)),
      claims_(fabric.settings(), terms_, pid_of(fabric.settings())) {
  link_.owner = this;
  link_.fid.fid = {FI_CLASS_DOMAIN, context, &domain_fid_ops};
  link_.fid.ops = &domain_ops;
  link_.fid.mr = terms_.has_av_keys ? &keyed_registration_ops : &registration_ops;
  fabric_.add_ref();
}

Domain::~Domain() {
  if (registration_eq_ != nullptr) registration_eq_->drop_ref();
  if (eq_ != nullptr) eq_->drop_ref();
  fabric_.drop_ref();
}

int Domain::start(const fi_info& info) {
  std::optional<DomainCandidate> candidate = candidate_of(settings(), info);
  if (!candidate) {
    UET_WARN(DOMAIN, "fi_domain: no such interface or address; take fi_info from fi_getinfo\n");
    return -FI_ENODEV;
  }
  const std::optional<uint32_t> job = job_of(settings(), *info.domain_attr);
  if (!job || (terms_.has_av_keys && info.domain_attr->auth_key != nullptr)) return -FI_EINVAL;
  terms_.job = JobId{*job};
  candidate->leave_uet_port = leaves_uet_port(info, candidate->interface.address);
  terms_.name = candidate->name;
  terms_.fabric_name = fabric_name(candidate->interface);
  const int error =
      engines_.start(engine_count(), settings(), *candidate, *info.domain_attr, terms_.payload);
  if (error != 0) return error;
  terms_.local = engines_.first().local;
  for (DomainEngine& engine : engines_) {
    UET_INFO(DOMAIN, "%s: %s, UDP port %u, payload %u, JobID %u, PIDonFEP %u\n",
             terms_.name.c_str(), io::ip_text(engine.local).c_str(), engine.local.port,
             terms_.payload.network, terms_.job.value(), claims_.pid().value());
    HelperThread& helper = engine.progress->helper();
    if (helper.is_running()) helper.set_errand(std::make_unique<DomainErrand>(*this, engine));
  }
  if (is_socket_address(terms_.addr_format) && terms_.local.port != kUetPort) {
    UET_WARN(DOMAIN,
             "UDP port %u is taken, and socket addresses cannot name port %u: peers will "
             "not find this process. Use another address or no addr_format hint\n",
             kUetPort, terms_.local.port);
  }
  return 0;
}

// Objects that need a single engine keep the domain at one: counters of regions, the jobs of
// address vectors, addresses without a port, owners of queues, and backends that an address or an
// interface has only once. [LF-144, LF-145, LF-159]
uint32_t Domain::engine_count() const {
  const IoChoice io = settings().io;
  const bool needs_one = terms_.has_av_keys || (terms_.caps & FI_RMA_EVENT) != 0 ||
                         terms_.has_peers || is_socket_address(terms_.addr_format) ||
                         is_without_udp(io) || io == IoChoice::xdp;
  if (needs_one && settings().engines > 1) {
    UET_INFO(DOMAIN,
             "one engine instead of FI_UET_ENGINES=%u, because of FI_RMA_EVENT, FI_AV_AUTH_KEY, "
             "FI_PEER, socket addresses, or FI_UET_IO=ip, ip-packet, ip-xdp or xdp\n",
             settings().engines);
  }
  return needs_one ? 1 : settings().engines;
}

int Domain::close() {
  home().require();
  if (refs_ != 0) return -FI_EBUSY;
  open_domains().remove(*this);
  engines_.drain(kDrainTime);
  delete this;
  return 0;
}

// Programs that end without closing their endpoints, as is usual with sockets, must not lose
// operations that were reported as complete. [LF-138]
void Domain::finish(Instant end) {
  const uint32_t left = engines_.flush_copies(std::max(end - monotonic_now(), Duration::zero()));
  if (left != 0) {
    UET_WARN(DOMAIN,
             "exit: %u operations that had been reported as done are lost: their peers did not "
             "confirm them within %lld ms (FI_UET_LINGER)\n",
             left, static_cast<long long>(settings().linger.ms()));
  }
  engines_.retire();
}

int Domain::bind(struct fid* fid, uint64_t flags) {
  home().require();
  EventQueue* eq = checked_object_of<EventQueue>(fid);
  if (eq == nullptr) return -FI_EINVAL;
  if ((flags & ~kRegMr) != 0) return -FI_EBADFLAGS;
  EventQueue*& slot = (flags & kRegMr) != 0 ? registration_eq_ : eq_;
  if (slot != nullptr) return -FI_EINVAL;
  slot = eq;
  eq->add_ref();
  if ((flags & kRegMr) == 0) failures_.add(link_.fid.fid, *eq);
  return 0;
}

int Domain::control(int command, void* arg) {
  return command == FI_UET_GET_COUNTERS ? copy_counters(*this, arg) : -FI_ENOSYS;
}

bool Domain::may_import(const char* call) const {
  if (terms_.has_peers) return true;
  UET_WARN(DOMAIN,
           "%s: FI_PEER needs a domain that was opened with it: ask fi_getinfo for FI_PEER in "
           "hints->caps\n",
           call);
  return false;
}

bool Domain::may_talk(JobId job) const {
  const Security* const security = engines_.first().security.get();
  return security == nullptr || !security->jobs().is_cut_off(job);
}

void Domain::describe(const DomainEngine& engine, DomainStatus& out) const {
  out.domain = terms_.name;
  out.fabric = terms_.fabric_name;
  out.local = engine.local;
  out.job = terms_.job.value();
  out.payload_mtu = terms_.payload.network;
  out.failure = failures_.get();
  out.endpoints = claims_.list();
}

}  // namespace uet::prov
