// The libfabric domain; see domain.h.
#include "prov/uet/domain/domain.h"

#include "prov/uet/address/av.h"
#include "prov/uet/api/log.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/completion/cntr.h"
#include "prov/uet/completion/cq.h"
#include "prov/uet/completion/eq.h"
#include "prov/uet/domain/info.h"
#include "prov/uet/domain/open_domains.h"
#include "prov/uet/domain/security.h"
#include "prov/uet/domain/setup.h"
#include "prov/uet/endpoint/atomic.h"
#include "prov/uet/endpoint/ep.h"
#include "prov/uet/endpoint/shared_receives.h"
#include "prov/uet/memory/mr.h"
#include "prov/uet/observe/counters.h"
#include "prov/uet/observe/domain_errand.h"
#include "prov/uet/observe/status.h"

#include "io/socket.h"

#include <algorithm>
#include <optional>

namespace uet::prov {
namespace {

// How long fi_close waits for peers to agree to the end of their connections. A silent peer must
// not hold the application up; the peer's own time-outs close the rest.
constexpr Duration kDrainTime = Duration::milliseconds(500);

// Calls that open an object in a domain fail in a forked child.
template <class Fid, class Body>
int open_in(Fid* domain, Body body) noexcept {
  return guard([&] {
    Domain::from(domain).home().require();
    return body(Domain::from(domain));
  });
}

int close_op(fid* fid) noexcept {
  return guard([&] { return Domain::from(fid).close(); });
}

int bind_op(fid* fid, struct fid* other, uint64_t flags) noexcept {
  return guard([&] { return Domain::from(fid).bind(other, flags); });
}

int av_open_op(fid_domain* domain, fi_av_attr* attr, fid_av** av, void* context) noexcept {
  return open_in(domain, [&](Domain& d) { return AddressVector::open(d, attr, av, context); });
}

int cq_open_op(fid_domain* domain, fi_cq_attr* attr, fid_cq** cq, void* context) noexcept {
  return open_in(domain, [&](Domain& d) { return CompletionQueue::open(d, attr, cq, context); });
}

int endpoint_op(fid_domain* domain, fi_info* info, fid_ep** ep, void* context) noexcept {
  return open_in(domain, [&](Domain& d) { return Endpoint::open(d, info, ep, context); });
}

int cntr_open_op(fid_domain* domain, fi_cntr_attr* attr, fid_cntr** cntr, void* context) noexcept {
  return open_in(domain, [&](Domain& d) { return Counter::open(d, attr, cntr, context); });
}

int endpoint2_op(fid_domain* domain, fi_info* info, fid_ep** ep, uint64_t flags,
                 void* context) noexcept {
  if (flags != 0) return -FI_EBADFLAGS;
  return endpoint_op(domain, info, ep, context);
}

int query_atomic_op(fid_domain*, fi_datatype datatype, fi_op op, fi_atomic_attr* attr,
                    uint64_t flags) noexcept {
  return query_atomic(datatype, op, attr, flags);
}

int regattr_op(fid* fid, const fi_mr_attr* attr, uint64_t flags, fid_mr** mr) noexcept {
  return open_in(fid, [&](Domain& d) { return MemoryRegion::open(d, *attr, flags, mr); });
}

int regv_op(fid* fid, const iovec* iov, size_t count, uint64_t access, uint64_t offset,
            uint64_t requested_key, uint64_t flags, fid_mr** mr, void* context) noexcept {
  fi_mr_attr attr{};
  attr.mr_iov = iov;
  attr.iov_count = count;
  attr.access = access;
  attr.offset = offset;
  attr.requested_key = requested_key;
  attr.context = context;
  return regattr_op(fid, &attr, flags, mr);
}

int reg_op(fid* fid, const void* buf, size_t length, uint64_t access, uint64_t offset,
           uint64_t requested_key, uint64_t flags, fid_mr** mr, void* context) noexcept {
  const iovec iov{const_cast<void*>(buf), length};
  return regv_op(fid, &iov, 1, access, offset, requested_key, flags, mr, context);
}

int control_op(fid* fid, int command, void* arg) noexcept {
  return guard([&] { return Domain::from(fid).control(command, arg); });
}

int srx_context_op(fid_domain* domain, fi_rx_attr* attr, fid_ep** ep, void* context) noexcept {
  return open_in(domain, [&](Domain& d) { return SharedReceives::open(d, attr, ep, context); });
}

fi_ops object_ops = {sizeof(fi_ops), close_op, bind_op, control_op, open_ops, nullptr, nullptr};

fi_ops_domain domain_ops = {
    .size = sizeof(fi_ops_domain),
    .av_open = av_open_op,
    .cq_open = cq_open_op,
    .endpoint = endpoint_op,
    .scalable_ep = not_offered,
    .cntr_open = cntr_open_op,
    .poll_open = not_offered,
    .stx_ctx = not_offered,
    .srx_ctx = srx_context_op,
    .query_atomic = query_atomic_op,
    .query_collective = not_offered,
    .endpoint2 = endpoint2_op,
};

fi_ops_mr mr_ops = {
    .size = sizeof(fi_ops_mr),
    .reg = reg_op,
    .regv = regv_op,
    .regattr = regattr_op,
};

// With FI_AV_AUTH_KEY the key comes with fi_mr_regattr. [fi_mr, fi_mr_reg]
fi_ops_mr keyed_mr_ops = {
    .size = sizeof(fi_ops_mr),
    .reg = not_supported,
    .regv = not_supported,
    .regattr = regattr_op,
};

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

fi_ops* Domain::fid_ops() { return &object_ops; }

int Domain::open(Fabric& fabric, const fi_info& info, fid_domain** fid, void* context) {
  if (info.domain_attr == nullptr) return -FI_EINVAL;
  std::unique_ptr<Domain> domain(new Domain(fabric, info, context));
  if (const int error = domain->start(info); error != 0) return error;
  open_domains().add(*domain);
  *fid = &domain.release()->link_.fid;
  return 0;
}

Domain::Domain(Fabric& fabric, const fi_info& info, void* context)
    : fabric_(fabric),
      terms_(terms_of(info)),
      claims_(fabric.settings(), terms_, pid_of(fabric.settings())) {
  link_.owner = this;
  link_.fid.fid = {FI_CLASS_DOMAIN, context, &object_ops};
  link_.fid.ops = &domain_ops;
  link_.fid.mr = terms_.has_av_keys ? &keyed_mr_ops : &mr_ops;
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
