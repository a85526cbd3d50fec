// Address vector; see av.h.
#include "prov/uet/address/av.h"

#include "prov/uet/address/av_names.h"
#include "prov/uet/api/log.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/completion/eq.h"
#include "prov/uet/domain/info.h"
#include "prov/uet/peer/peer_receives.h"

#include "ses/config.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

namespace uet::prov {
namespace {

// How long fi_av_remove waits for operations to the address to end. [LF-015]
constexpr Duration kRemovePatience = Duration::milliseconds(200);
constexpr size_t kReserveMax = 4096;  // entries; a larger count is taken when it is used
constexpr uint64_t kInsertFlags = FI_MORE | FI_SYNC_ERR;
constexpr uint64_t kFirewallAddr = uint64_t{1} << 42;  // libfabric 2.2; has no effect here [LF-124]

bool is_unicast(const FabricAddress& fa) {
  if (fa.family == FabricAddress::Family::ipv4) return fa.ip[0] != 0 && fa.ip[0] < 224;
  if (fa.family != FabricAddress::Family::ipv6) return false;
  const bool zero = std::all_of(fa.ip.begin(), fa.ip.end(), [](uint8_t b) { return b == 0; });
  return !zero && fa.ip[0] != 0xFF;
}

// Decides what packets to the peer carry, by what its address states and by the route. [LF-131,
// LF-140]
Result<void> agree(Domain& domain, const UetAddress& address, pds::Peer& peer, Instant now) {
  const io::Route route = domain.routes().find(domain.terms().local, address.fa, now);
  const uint32_t agreed = agree_payload(domain.terms().payload, address, route);
  if (agreed == 0) {
    UET_WARN(AV,
             "%s: the route carries packets of %u octets, a payload of %u needs %u; raise the MTU "
             "of the route (ip route get)\n",
             to_string(address).c_str(), route.mtu_bytes, wire::kPayloadMtuMin,
             wire::kPayloadMtuMin + wire::kHeadersMin);
    return Errc::too_long;
  }
  const bool is_news = peer.payload_toward(0) != agreed;
  if (address.payload_mtu != 0) peer.payload_mtu = address.payload_mtu;
  peer.agree_payload(agreed);
  if (is_news && agreed != domain.terms().payload_mtu()) {
    UET_INFO(AV, "%s: packets carry %u octets, those to others %u (route: %u)\n",
             to_string(address).c_str(), agreed, domain.terms().payload_mtu(), route.mtu_bytes);
  }
  return {};
}

}  // namespace

fi_ops* AddressVector::fid_ops() { return &av_fid_ops; }

int AddressVector::open(Domain& domain, fi_av_attr* attr, fid_av** fid, void* context) {
  domain.home().require();
  if (fid == nullptr) return -FI_EINVAL;
  const fi_av_attr wanted = attr != nullptr ? *attr : fi_av_attr{};
  if (wanted.type > FI_AV_TABLE || wanted.rx_ctx_bits < 0 || wanted.rx_ctx_bits > 16) {
    return -FI_EINVAL;
  }
  if (wanted.name != nullptr || (wanted.flags & FI_READ) != 0) {
    UET_INFO(AV,
             "fi_av_open: shared address vectors are not supported: leave name null and "
             "FI_READ out\n");
    return -FI_ENOSYS;
  }
  const uint64_t ids = domain.terms().caps & FI_AV_USER_ID;
  if ((wanted.flags & ~(FI_EVENT | FI_SYMMETRIC | ids)) != 0) return -FI_EBADFLAGS;
  *fid = &(new AddressVector(domain, wanted, context))->link_.fid;
  if (attr != nullptr && attr->type == FI_AV_UNSPEC) attr->type = FI_AV_TABLE;  // [LF-012]
  return 0;
}

AddressVector::AddressVector(Domain& domain, const fi_av_attr& attr, void* context)
    : domain_(domain),
      has_events_((attr.flags & FI_EVENT) != 0),
      has_ids_((attr.flags & FI_AV_USER_ID) != 0),
      addr_format_(domain.terms().addr_format),
      tables_(domain.engines(), std::numeric_limits<uint64_t>::max() >> attr.rx_ctx_bits,
              domain.terms().has_av_keys, std::min(attr.count, kReserveMax)) {
  link_.owner = this;
  link_.fid.fid = {FI_CLASS_AV, context, &av_fid_ops};
  link_.fid.ops = &av_ops;
  domain_.add_ref();
}

AddressVector::~AddressVector() {
  tables_.end();
  if (eq_ != nullptr) eq_->drop_ref();
  domain_.drop_ref();
}

int AddressVector::close() {
  domain_.home().require();
  if (refs_ != 0) return -FI_EBUSY;
  delete this;
  return 0;
}

int AddressVector::bind(struct fid* fid, uint64_t flags) {
  domain_.home().require();
  EventQueue* eq = checked_object_of<EventQueue>(fid);
  if (eq == nullptr || eq_ != nullptr) return -FI_EINVAL;
  if (flags != 0) return -FI_EBADFLAGS;
  eq_ = eq;
  eq_->add_ref();
  return 0;
}

// The addressing of operations of that engine to the address; the engine keeps the peer for it.
Result<ses::Destination> AddressVector::reach(const UetAddress& address, JobId job,
                                              const DomainEngine& engine) {
  ProgressEngine::Entry entry(*engine.progress);
  pds::PeerTable& peers = entry.fep().peers();
  const PeerId peer = UET_TRY(peers.find_or_add(address.fa, entry.now()));
  UET_CHECK(agree(domain_, address, peers[peer], entry.now()));

  // A process that does not own port 4793 gets answers at its own port. [WIRE-121]
  if (address.fa.port != kUetPort) peers[peer].private_mark = true;
  ses::Destination to;
  // Fields that an address does not state are those of the base name. [LF-013]
  to.peer = peer;
  to.pid = PidOnFep{address.pid};
  to.ri = ResourceIndex{address.has_ri ? address.ri : kBaseRi};
  to.initiator_id = address.initiator_id;
  to.absolute = address.absolute;
  to.job = job;
  to.capabilities = static_cast<uint8_t>(address.capabilities);  // [LF-005]
  peers.list(peer);
  return to;
}

// Set-up lock held.
Result<fi_addr_t> AddressVector::add(const UetAddress& address, JobId job,
                                     const fi_addr_t* user_id) {
  if (!is_unicast(address.fa) || address.fa.family != domain_.terms().local.family)
    return Errc::invalid;
  std::vector<ses::Destination> to;
  to.reserve(domain_.engines().size());
  for (const DomainEngine& engine : domain_.engines()) {
    const Result<ses::Destination> reached = reach(address, job, engine);
    if (!reached.ok()) {
      tables_.give_up(to);
      return reached.error();
    }
    to.push_back(*reached);
  }
  return tables_.add(address, to, user_id);
}

int AddressVector::report(const Insertion& insertion, size_t good) {
  if (!has_events_) return static_cast<int>(good);
  fi_eq_entry done{};
  done.fid = &link_.fid.fid;
  done.context = insertion.context;
  done.data = good;
  eq_->report(FI_AV_COMPLETE, done);
  return 0;
}

void AddressVector::fail(const Insertion& insertion, size_t position, Errc why) {
  const int error = why == Errc::invalid ? FI_EINVAL : -to_fi_errno(why);
  if (insertion.out != nullptr) insertion.out[position] = FI_ADDR_NOTAVAIL;
  if ((insertion.flags & FI_SYNC_ERR) != 0) {
    static_cast<int*>(insertion.context)[position] = error;
  }
  if (!has_events_) return;
  fi_eq_err_entry entry{};
  entry.fid = &link_.fid.fid;
  entry.context = insertion.context;
  entry.data = position;
  entry.err = error;
  eq_->report_error(entry);
}

int AddressVector::check(const Insertion& insertion) const {
  // In a domain with FI_AV_AUTH_KEY each address has a key, else none. [LF-019]
  const bool has_keys = (insertion.flags & kAuthKeyFlag) != 0;
  if (has_keys && !domain_.terms().has_av_keys) return -FI_EBADFLAGS;
  if (domain_.terms().has_av_keys && (!has_keys || insertion.out == nullptr)) {
    UET_WARN(AV,
             "the domain has FI_AV_AUTH_KEY: insert addresses with FI_AUTH_KEY, and their keys "
             "in fi_addr\n");
    return -FI_EINVAL;
  }
  // Completions carry the addresses to which answers go, only if the application asks for the
  // capability. [LF-160]
  const uint64_t ids = domain_.terms().caps & FI_AV_USER_ID;
  if ((insertion.flags & ids) != 0 && (insertion.out == nullptr || has_ids_)) return -FI_EINVAL;
  const bool has_firewalls = FI_VERSION_GE(domain_.api_version(), FI_VERSION(2, 2));
  const uint64_t ignored = has_firewalls ? kFirewallAddr : 0;
  if ((insertion.flags & ~(kInsertFlags | kAuthKeyFlag | ids | ignored)) != 0) return -FI_EBADFLAGS;
  const bool errors = (insertion.flags & FI_SYNC_ERR) != 0;
  if (errors && (has_events_ || insertion.context == nullptr)) return -FI_EINVAL;
  if (has_events_ && eq_ == nullptr) return -FI_ENOEQ;
  return 0;
}

// Inserts what `next` yields, one by one.
template <class Next>
int AddressVector::insert_all(const Insertion& insertion, size_t count, Next&& next) {
  domain_.home().require();
  if (const int error = check(insertion); error != 0) return error;
  size_t good = 0;
  std::vector<PeerReceives*> listeners;
  {
    const std::lock_guard lock(domain_.engines().set_up_lock());
    tables_.release_ended();
    for (size_t i = 0; i < count; ++i) {
      const Result<fi_addr_t> added = [&]() -> Result<fi_addr_t> {
        JobId job;  // 0: as its endpoint is [LF-019]
        if ((insertion.flags & kAuthKeyFlag) != 0) {
          const ProgressEngine::Entry entry(domain_.first_engine());
          const JobId* const named = keys_.find(insertion.out[i]);
          if (named == nullptr) return Errc::invalid;
          job = *named;
        }
        const bool is_named = (insertion.flags & FI_AV_USER_ID) != 0;
        return add(UET_TRY(next(i)), job, is_named ? &insertion.out[i] : nullptr);
      }();
      if (!added.ok()) {
        fail(insertion, i, added.error());
        continue;
      }
      ++good;
      if (insertion.out != nullptr) insertion.out[i] = *added;
      if ((insertion.flags & FI_SYNC_ERR) != 0) static_cast<int*>(insertion.context)[i] = 0;
    }
    domain_.routes().rest();
    listeners = listeners_;
  }
  for (PeerReceives* peer : listeners) peer->on_inserted();
  return report(insertion, good);
}

int AddressVector::set_user_id(fi_addr_t address, fi_addr_t id, uint64_t flags) {
  domain_.home().require();
  if (flags != 0) return -FI_EBADFLAGS;
  if (!has_ids_) {
    UET_WARN(AV, "fi_av_set_user_id: open the address vector with FI_AV_USER_ID\n");
    return -FI_EINVAL;
  }
  const std::lock_guard lock(domain_.engines().set_up_lock());
  return tables_.set_user_id(address, id) ? 0 : -FI_EINVAL;
}

int AddressVector::insert(const void* addresses, size_t count, fi_addr_t* out, uint64_t flags,
                          void* context) {
  if (addresses == nullptr && count != 0) return -FI_EINVAL;
  const bool ipv6 = domain_.terms().local.family == FabricAddress::Family::ipv6;
  const size_t stride = address_bytes(addr_format_, ipv6);
  return insert_all({out, flags, context}, count, [&](size_t i) {
    if (addr_format_ == FI_ADDR_STR) {
      return read_address(FI_ADDR_STR, static_cast<char* const*>(addresses)[i], SIZE_MAX);
    }
    return read_address(addr_format_, static_cast<const std::byte*>(addresses) + i * stride,
                        stride);
  });
}

int AddressVector::insert_named(const char* node, size_t node_count, const char* service,
                                size_t service_count, fi_addr_t* out, uint64_t flags,
                                void* context) {
  if (node == nullptr || node_count == 0 || service_count == 0) return -FI_EINVAL;
  const SymmetricNames names{node, service, service_count, domain_.terms().local.family};
  // Resolved before the engine is entered: the name service may take its time.
  std::vector<Result<UetAddress>> found;
  for (size_t i = 0; i < node_count * service_count; ++i) found.push_back(names.address(i));
  return insert_all({out, flags, context}, found.size(),
                    [&](size_t i) -> const Result<UetAddress>& { return found[i]; });
}

int AddressVector::remove_one(fi_addr_t address) {
  const Instant limit = monotonic_now() + kRemovePatience;
  for (;;) {
    {
      const std::lock_guard lock(domain_.engines().set_up_lock());
      tables_.release_ended();
      const int error = tables_.remove(address);
      if (error != -FI_EBUSY || monotonic_now() >= limit) return error;
    }
    std::this_thread::yield();
  }
}

int AddressVector::remove(const fi_addr_t* addresses, size_t count, uint64_t flags) {
  domain_.home().require();
  const bool keys = flags == kAuthKeyFlag && domain_.terms().has_av_keys;
  if (flags != 0 && !keys) return -FI_EBADFLAGS;
  if (addresses == nullptr && count != 0) return -FI_EINVAL;
  for (size_t i = 0; i < count; ++i) {
    const int error = keys ? remove_key(addresses[i]) : remove_one(addresses[i]);
    if (error != 0) return error;
  }
  return 0;
}

// The addresses that were inserted with it stay of its job.
int AddressVector::remove_key(fi_addr_t key) {
  const ProgressEngine::Entry entry(domain_.first_engine());
  return keys_.remove(key);
}

int AddressVector::insert_auth_key(const void* key, size_t bytes, fi_addr_t* out, uint64_t flags) {
  if (!domain_.terms().has_av_keys) return -FI_ENOSYS;
  if (flags != 0) return -FI_EBADFLAGS;
  const std::optional<uint32_t> job = job_of_key(static_cast<const uint8_t*>(key), bytes);
  if (!job || out == nullptr) return -FI_EINVAL;  // [LF-017]
  const ProgressEngine::Entry entry(domain_.first_engine());
  const Result<fi_addr_t> added = keys_.add(JobId{*job});
  if (!added.ok()) {
    UET_WARN(AV,
             "fi_av_insert_auth_key: the address vector has its %zu keys (max_ep_auth_key): "
             "open another one\n",
             kKeysMax);
    return -FI_ENOSPC;
  }
  *out = *added;
  return 0;
}

int AddressVector::lookup_auth_key(fi_addr_t address, void* key, size_t* bytes) {
  if (!domain_.terms().has_av_keys) return -FI_ENOSYS;
  if (bytes == nullptr || (key == nullptr && *bytes != 0)) return -FI_EINVAL;
  const ProgressEngine::Entry entry(domain_.first_engine());
  const JobId* job = keys_.find(address);
  const ses::Destination* const to = tables_.of(domain_.engines().first()).find(address);
  if (job == nullptr && to != nullptr) job = &to->job;
  if (job == nullptr) return -FI_EINVAL;
  const uint32_t value = job->value();  // host order [LF-017]
  if (*bytes != 0) std::memcpy(key, &value, std::min(*bytes, sizeof value));
  *bytes = sizeof value;
  return 0;
}

int AddressVector::lookup(fi_addr_t address, void* data, size_t* length) {
  if (length == nullptr) return -FI_EINVAL;
  const ProgressEngine::Entry entry(domain_.first_engine());
  const AvTable& entries = tables_.of(domain_.engines().first());
  if (entries.find(address) == nullptr) return -FI_EINVAL;
  write_address(addr_format_, entries.address_of(address), data, length);
  return 0;
}

const char* AddressVector::to_text(const void* address, char* buf, size_t* length) const {
  const bool ipv6 = domain_.terms().local.family == FabricAddress::Family::ipv6;
  const size_t bytes = address_bytes(addr_format_, ipv6);
  const Result<UetAddress> read =
      read_address(addr_format_, address, bytes != 0 ? bytes : SIZE_MAX);
  const std::string text = read.ok() ? to_string(*read) : std::string("(not an address)");
  if (buf != nullptr && *length != 0) snprintf(buf, *length, "%s", text.c_str());
  *length = text.size() + 1;
  return buf;
}

}  // namespace uet::prov
