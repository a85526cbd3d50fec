// Memory region; see mr.h.
#include "prov/uet/memory/mr.h"

#include "prov/uet/address/av.h"
#include "prov/uet/api/log.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/completion/cntr.h"
#include "prov/uet/completion/eq.h"
#include "prov/uet/domain/info.h"
#include "prov/uet/endpoint/ep.h"

#include <cstring>
#include <memory>
#include <mutex>

namespace uet::prov {
namespace {

constexpr uint64_t kAccess =
    FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_ATOMIC;

// A region cannot have objects of two domains.
int other_domain(const char* object) {
  UET_WARN(MR, "a memory region and its %s must be of one domain\n", object);
  return -FI_EDOMAIN;
}

// [LF-040]
uint32_t to_access(uint64_t access) {
  uint32_t result = 0;
  if ((access & FI_REMOTE_READ) != 0) result |= ses::kRemoteRead;
  if ((access & FI_REMOTE_WRITE) != 0) result |= ses::kRemoteWrite;
  constexpr uint64_t kBoth = FI_REMOTE_READ | FI_REMOTE_WRITE;
  if ((access & kBoth) == kBoth) result |= ses::kAtomic;
  return result;
}

// Packets are copied with the processor, which cannot read the memory of a device. `iface` counts
// although FI_HMEM is not granted: the alternative is a crash when a peer uses the region.
// [LF-134, ABI-024]
int check_memory(const Domain& domain, const fi_mr_attr& attr, uint64_t flags) {
  if ((flags & kMrDmabuf) != 0) {
    UET_WARN(MR, "fi_mr_regattr: FI_MR_DMABUF is not supported; register memory of the host\n");
    return -FI_EBADFLAGS;
  }
  if (base_mr_of(attr, domain.api_version()) != nullptr) return 0;  // its memory was judged
  if (domain.api_version() >= kApiHmem && attr.iface != FI_HMEM_SYSTEM) {
    UET_WARN(MR,
             "fi_mr_regattr: iface is %d, but device memory is not supported; copy the data to "
             "memory of the host and register that, with iface FI_HMEM_SYSTEM (0)\n",
             static_cast<int>(attr.iface));
    return -FI_ENOSYS;
  }
  return 0;
}

int check(const Domain& domain, const fi_mr_attr& attr, uint64_t flags) {
  if (const int error = check_memory(domain, attr, flags); error != 0) return error;
  const uint64_t keyed = domain.terms().has_av_keys ? kAuthKeyFlag : 0;
  if ((flags & ~(FI_RMA_EVENT | kMrIdempotent | keyed)) != 0) return -FI_EBADFLAGS;
  if (attr.iov_count == 0 || attr.iov_count > kIovLimit || attr.mr_iov == nullptr) {
    return -FI_EINVAL;
  }
  if (attr.offset != 0 || (attr.access & ~kAccess) != 0) return -FI_EINVAL;
  for (size_t i = 0; i < attr.iov_count; ++i) {
    if (attr.mr_iov[i].iov_base == nullptr && attr.mr_iov[i].iov_len != 0) return -FI_EINVAL;
  }
  return 0;
}

}  // namespace

fi_ops* MemoryRegion::fid_ops() { return &mr_fid_ops; }

MemoryRegion::MemoryRegion(Domain& domain, const fi_mr_attr& attr, uint64_t flags)
    : domain_(domain),
      access_(to_access(attr.access)),
      requested_key_(attr.requested_key),
      provider_key_(domain.terms().gives_keys()),
      idempotent_(domain.settings().idempotent || (flags & kMrIdempotent) != 0),
      needs_endpoint_((domain.terms().mr_mode & FI_MR_ENDPOINT) != 0),
      deferred_(needs_endpoint_ ||
                ((domain.terms().mr_mode & FI_MR_RMA_EVENT) != 0 && (flags & FI_RMA_EVENT) != 0)) {
  // With provider keys the requested key may be anything; only a chosen one asks by its bit, and
  // not one that does not have the format of keys. [LF-027, LF-150]
  if (!provider_key_ && ses::has_key_format(requested_key_) &&
      (requested_key_ & ses::kIdempotentSafe) != 0) {
    idempotent_ = true;
    requested_key_ &= ~ses::kIdempotentSafe;
  }
  if (domain.terms().has_virtual_addresses()) {
    base_ = reinterpret_cast<uintptr_t>(attr.mr_iov[0].iov_base);
  }
  // Counters count messages, and RUDI has none. [LF-097]
  if ((flags & FI_RMA_EVENT) != 0) idempotent_ = false;
  for (size_t i = 0; i < attr.iov_count; ++i) {
    iov_.push_back(
        {static_cast<const std::byte*>(attr.mr_iov[i].iov_base), attr.mr_iov[i].iov_len});
  }
  link_.owner = this;
  link_.fid.fid = {FI_CLASS_MR, attr.context, &mr_fid_ops};
  link_.fid.mem_desc = this;
  link_.fid.key = provider_key_ ? FI_KEY_NOTAVAIL : attr.requested_key;
  domain_.add_ref();
}

int MemoryRegion::open(Domain& domain, const fi_mr_attr* wanted, uint64_t flags, fid_mr** fid) {
  domain.home().require();
  if (wanted == nullptr || fid == nullptr) return -FI_EINVAL;
  const fi_mr_attr& attr = *wanted;
  if (const int error = check(domain, attr, flags); error != 0) return error;
  std::unique_ptr<MemoryRegion> region(new MemoryRegion(domain, attr, flags));
  if (const fid_mr* const base = base_mr_of(attr, domain.api_version())) {
    if (const int error = region->become_part_of(base); error != 0) return error;
  }
  if (const int error = region->restrict_to(attr, flags); error != 0) return error;
  if (!region->needs_endpoint_) {
    if (const int error = region->add(); error != 0) return error;
    if (!region->deferred_) region->activate();
  }
  *fid = &region.release()->link_.fid;
  if (EventQueue* eq = domain.registration_eq()) {
    fi_eq_entry done{};
    done.fid = &(*fid)->fid;
    done.context = attr.context;
    eq->report(FI_MR_COMPLETE, done);
  }
  return 0;
}

// A part of a region has its own key and rights and lies within it; the whole stays open as long as
// the part. [LF-119, fi_mr, base_mr]
int MemoryRegion::become_part_of(const fid_mr* base) {
  // libfabric gives it as const; the region behind it counts its parts.
  auto* const region = const_cast<fid_mr*>(base);
  MemoryRegion* const whole = checked_object_of<MemoryRegion>(&region->fid);
  if (whole == nullptr || &whole->domain_ != &domain_) return -FI_EINVAL;
  for (const IoSlice& slice : iov_) {
    if (!whole->covers(slice)) {
      UET_WARN(MR, "fi_mr_regattr: the region is not within that of base_mr\n");
      return -FI_EINVAL;
    }
  }
  const std::lock_guard lock(domain_.engines().set_up_lock());
  whole_ = whole;
  ++whole->parts_;
  return 0;
}

// Within one piece of its memory.
bool MemoryRegion::covers(const IoSlice& slice) const {
  const auto at = reinterpret_cast<uintptr_t>(slice.data);
  for (const IoSlice& own : iov_) {
    const auto start = reinterpret_cast<uintptr_t>(own.data);
    if (at >= start && at - start <= own.length && slice.length <= own.length - (at - start)) {
      return true;
    }
  }
  return false;
}

// Peers whose requests may use it. [LF-037]
int MemoryRegion::restrict_to(const fi_mr_attr& attr, uint64_t flags) {
  if (domain_.terms().has_av_keys) return restrict_to_av(attr, flags);
  if (attr.auth_key_size == 0) {
    if (domain_.terms().has_key) job_ = domain_.terms().job.value();
    return 0;
  }
  const std::optional<uint32_t> job = job_of_key(attr.auth_key, attr.auth_key_size);
  if (!job) return -FI_EINVAL;  // [LF-017]
  job_ = *job;
  return 0;
}

// The keys of an address vector, and with FI_DIRECTED_RECV one of them or one address. [LF-019]
int MemoryRegion::restrict_to_av(const fi_mr_attr& attr, uint64_t flags) {
  MrAuthKey key;
  if (attr.auth_key_size != sizeof key || attr.auth_key == nullptr) return -FI_EINVAL;
  std::memcpy(&key, attr.auth_key, sizeof key);
  AddressVector* const av =
      key.av != nullptr ? checked_object_of<AddressVector>(&key.av->fid) : nullptr;
  if (av == nullptr) return -FI_EINVAL;
  if (&av->domain() != &domain_) return other_domain("address vector of its keys");
  av_ = av;
  ProgressEngine::Entry entry(domain_.first_engine());
  jobs_ = av->keys().jobs();
  if (jobs_.empty()) return -FI_ENOKEY;
  if ((domain_.terms().caps & FI_DIRECTED_RECV) == 0 || key.src_addr == FI_ADDR_UNSPEC) return 0;
  if ((flags & kAuthKeyFlag) != 0) {
    const JobId* const job = av->keys().find(key.src_addr);
    if (job == nullptr) return -FI_EINVAL;
    jobs_ = {*job};
    return 0;
  }
  const ses::Destination* const from = av->table(domain_.engines().first()).find(key.src_addr);
  if (from == nullptr) return -FI_EINVAL;
  jobs_ = {from->job};
  directed_ = true;
  from_ = from->peer;
  from_initiator_ = from->initiator_id;
  entry.fep().peers().add_ref(from_);  // the address may be removed before the region
  return 0;
}

MemoryRegion::~MemoryRegion() {
  {
    const std::lock_guard lock(domain_.engines().set_up_lock());
    take_away();
    if (whole_ != nullptr) --whole_->parts_;
  }
  {
    ProgressEngine::Entry entry(domain_.first_engine());
    if (directed_) entry.fep().peers().drop_ref(from_);
    if (read_counter_ != nullptr) read_counter_->detach(*this);
    if (write_counter_ != nullptr && write_counter_ != read_counter_) {
      write_counter_->detach(*this);
    }
  }
  domain_.drop_ref();
}

int MemoryRegion::close() {
  domain_.home().require();
  {
    const std::lock_guard lock(domain_.engines().set_up_lock());
    if (parts_ != 0) return -FI_EBUSY;
  }
  delete this;
  return 0;
}

ses::RegionRequest MemoryRegion::request() {
  ses::RegionRequest request;
  request.iov = iov_;
  request.access = access_;
  request.provider_key = provider_key_;
  request.key = requested_key_;
  request.idempotent_safe = idempotent_;
  request.job = job_;
  request.jobs = jobs_;
  request.directed = directed_;
  request.from = from_;
  request.from_initiator = from_initiator_;
  request.ri = ri_;
  request.base = base_;
  request.user = reinterpret_cast<uintptr_t>(this);
  return request;
}

// Makes the stack know the region, still disabled, and learns its key.
int MemoryRegion::add() {
  if (!needs_key()) return 0;  // local use needs no registration [LF-032]
  // All engines get all regions in the same order, so a key that is free in one is free in all.
  const std::lock_guard lock(domain_.engines().set_up_lock());
  for (const DomainEngine& engine : domain_.engines()) {
    const Result<void> done = add_to(engine, request());
    if (done.ok()) continue;
    take_away();
    if (done.error() == Errc::exists) return -FI_ENOKEY;
    if (done.error() == Errc::again) return -FI_ENOMEM;
    return to_fi_errno(done.error());
  }
  return 0;
}

// The first engine makes a provider key; the other engines use the same one. [LF-145]
Result<void> MemoryRegion::add_to(const DomainEngine& engine, ses::RegionRequest request) {
  ProgressEngine::Entry entry(*engine.progress);
  ses::MemoryRegions& regions = entry.ses().memory();
  if (ids_.empty()) {
    // A 12-bit key has no room for a restriction to an endpoint, and the header that carries it
    // does not name the sender. [SES-008, LF-028]
    request.optimized =
        provider_key_ && ri_ == 0 && !directed_ && entry.ses().config().small_headers;
  } else if (provider_key_) {
    request.provider_key = false;
    request.key = link_.fid.key;
  }
  const ses::RegionId id = UET_TRY(regions.add(request));
  ids_.push_back(id);
  // If the key travels as a hash, the application still sees its own key. [LF-150]
  if (provider_key_ || ses::has_key_format(requested_key_)) link_.fid.key = regions.key(id);
  return {};
}

// No packet of any engine touches the memory afterwards.
void MemoryRegion::take_away() {
  for (uint32_t i = 0; i < ids_.size(); ++i) {
    ProgressEngine::Entry entry(*domain_.engines()[i].progress);
    entry.ses().memory().remove(ids_[i]);
  }
  ids_.clear();
}

void MemoryRegion::activate() {
  enabled_ = true;
  for (uint32_t i = 0; i < ids_.size(); ++i) {
    ProgressEngine::Entry entry(*domain_.engines()[i].progress);
    entry.ses().memory().enable(ids_[i]);  // also re-enables a disabled generation [LF-039]
  }
}

int MemoryRegion::control(int command) {
  if (command == FI_REFRESH) return 0;  // pages are never pinned or cached
  return command == FI_ENABLE ? enable() : -FI_ENOSYS;
}

int MemoryRegion::enable() {
  domain_.home().require();
  if (enabled_) return 0;
  if (needs_endpoint_) {
    if (ri_ == 0) {
      UET_WARN(MR, "fi_mr_enable: bind the region to an endpoint first (FI_MR_ENDPOINT)\n");
      return -FI_EOPBADSTATE;
    }
    if (const int error = add(); error != 0) return error;
  }
  activate();
  return 0;
}

int MemoryRegion::bind(struct fid* fid, uint64_t flags) {
  domain_.home().require();
  // After enabling no more bindings are made; without FI_MR_RMA_EVENT a counter may come any time.
  if (deferred_ && enabled_) return -FI_EOPBADSTATE;
  if (Endpoint* endpoint = checked_object_of<Endpoint>(fid)) {
    if (flags != 0) return -FI_EBADFLAGS;
    if (&endpoint->core().domain() != &domain_) return other_domain("endpoint");
    if (ri_ != 0) return -FI_EINVAL;
    if (av_ != nullptr && needs_endpoint_ && endpoint->core().av() != av_) return -FI_EINVAL;
    if (needs_endpoint_) ri_ = endpoint->core().name().ri.value();
    return 0;
  }
  Counter* counter = checked_object_of<Counter>(fid);
  if (counter == nullptr) return -FI_EINVAL;
  if (&counter->domain() != &domain_) return other_domain("counter");
  if (flags == 0 || (flags & ~(FI_REMOTE_WRITE | FI_REMOTE_READ)) != 0) return -FI_EBADFLAGS;
  if ((domain_.terms().caps & FI_RMA_EVENT) == 0) return -FI_EOPNOTSUPP;
  if (idempotent_) {
    UET_WARN(MR,
             "a counter on an idempotent-safe region: register it with FI_RMA_EVENT, which keeps "
             "RUDI away from it\n");
    return -FI_EINVAL;
  }
  const ProgressEngine::Entry entry(domain_.first_engine());
  const bool write = (flags & FI_REMOTE_WRITE) != 0;
  const bool read = (flags & FI_REMOTE_READ) != 0;
  if ((write && write_counter_ != nullptr) || (read && read_counter_ != nullptr)) {
    return -FI_EINVAL;
  }
  if (write) write_counter_ = counter;
  if (read) read_counter_ = counter;
  counter->attach(*this);
  return 0;
}

void MemoryRegion::count_remote(bool write, bool ok) {
  Counter* counter = write ? write_counter_ : read_counter_;
  if (counter != nullptr) counter->count(ok);
}

void MemoryRegion::forget(const Counter& counter) {
  if (read_counter_ == &counter) read_counter_ = nullptr;
  if (write_counter_ == &counter) write_counter_ = nullptr;
}

}  // namespace uet::prov
