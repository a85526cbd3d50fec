// EndpointCore: binding, enabling, naming, options, and how an endpoint ends.
#include "prov/uet/endpoint/ep_core.h"

#include "prov/uet/address/av.h"
#include "prov/uet/api/compat.h"
#include "prov/uet/api/log.h"
#include "prov/uet/domain/domain.h"
#include "prov/uet/domain/info.h"
#include "prov/uet/endpoint/shared_receives.h"

#include <algorithm>
#include <cstring>

namespace uet::prov {

int no_endpoint_left() {
  UET_WARN(EP_CTRL,
           "the domain has %zu endpoints (fi_domain_attr.ep_cnt), no more: close some, "
           "or open another domain\n",
           kEndpointCount);
  return -FI_ENOSPC;
}

EndpointCore::EndpointCore(Domain& domain, const fi_info& info, const ses::EndpointName& name)
    : state_(domain, info), tx_(state_), rx_(state_), name_(name) {
  domain.add_ref();
}

EndpointCore::~EndpointCore() {
  state_.bound.release();
  state_.domain.names().release(name_);
  state_.domain.drop_ref();
}

void EndpointCore::join(const struct fid& fid) {
  const std::lock_guard lock(fids_lock_);
  fids_.push_back(&fid);
}

bool EndpointCore::leave(const struct fid& fid) {
  const std::lock_guard lock(fids_lock_);
  std::erase(fids_, &fid);
  if (fids_.empty()) return true;
  const ProgressEngine::Entry entry(state_.engine());
  state_.bound.rename_event_owner(fid, *fids_.front());
  return false;
}

int EndpointCore::bind(const struct fid& endpoint, fid* fid, uint64_t flags) {
  state_.domain.home().require();
  if (state_.enabled) {
    UET_WARN(EP_CTRL, "fi_ep_bind: the endpoint is enabled; bind everything before fi_enable\n");
    return -FI_EOPBADSTATE;
  }
  return state_.bound.bind(endpoint, fid, flags);
}

// Once the endpoint is enabled its engine does not change, and other threads read it.
int EndpointCore::choose_engine() {
  DomainEngine* const at = state_.bound.choose_engine();
  if (at == nullptr) return -FI_EINVAL;
  if (state_.at != at) state_.at = at;
  return 0;
}

int EndpointCore::enable() {
  state_.domain.home().require();
  if (state_.enabled) return 0;
  if (const int rc = state_.bound.check_complete(); rc != 0) return rc;
  if (const int rc = choose_engine(); rc != 0) return rc;
  SharedReceives* const shared = state_.bound.shared();
  ses::EndpointOptions options;
  options.mode = state_.as.delivery_mode();
  options.tc = state_.as.tc;
  options.tx_size = state_.as.tx_size;
  options.rx_size = state_.as.rx_size;
  if (shared != nullptr) options.shared = shared->id();
  if (!state_.domain.may_talk(name_.job)) {
    UET_WARN(EP_CTRL,
             "fi_enable: no secure domain of the keys has JobID %u: set FI_UET_JOB_ID to a JobID "
             "of the keys, or add a domain for it (uet_keys generate)\n",
             name_.job.value());
    return -FI_ENOKEY;
  }
  ProgressEngine::Entry entry(state_.engine());
  if (state_.domain.terms().has_av_keys) {
    options.jobs = state_.bound.fix_jobs();
    if (options.jobs.empty()) {
      UET_WARN(EP_CTRL,
               "fi_enable: the domain uses FI_AV_AUTH_KEY: insert an authorization key first "
               "(fi_av_insert_auth_key)\n");
      return -FI_ENOKEY;
    }
  }
  const Result<ses::EndpointId> opened =
      entry.ses().open_endpoint(name_, options, tx_.sink(), rx_.sink());
  if (!opened.ok()) {
    if (opened.error() == Errc::again) return no_endpoint_left();
    if (opened.error() == Errc::exists) {
      UET_WARN(EP_CTRL,
               "fi_enable: another endpoint of this domain has this address: close it, or leave "
               "the service out in fi_getinfo\n");
      return -FI_EADDRINUSE;
    }
    UET_WARN(EP_CTRL, "fi_enable: cannot open the endpoint: %s\n", uet::name(opened.error()));
    return to_fi_errno(opened.error());
  }
  if (state_.domain.terms().has_av_keys) state_.bound.hold_keys();
  state_.id = *opened;
  if (shared != nullptr) shared->add(*this);
  state_.enabled = true;
  return 0;
}

// Waits for operations that were reported, but not for the MSL: PDCs belong to the domain.
// [PDS-183]
void EndpointCore::shut_down() {
  if (!state_.enabled) return;
  uint32_t left = 0;
  {
    const ProgressEngine::Entry entry(state_.engine());
    left = tx_.unreported();
  }
  const Duration linger = state_.domain.settings().linger;
  const auto none_left = [&](auto&) {
    left = tx_.unreported();
    return left == 0;
  };
  if (left > 0 && !state_.engine().run_until(linger, none_left)) {
    UET_WARN(EP_CTRL,
             "fi_close: %u operations that had been reported as done are lost: their peers did "
             "not confirm them within %lld ms (FI_UET_LINGER)\n",
             left, static_cast<long long>(linger.ns() / 1'000'000));
  }
  ProgressEngine::Entry entry(state_.engine());
  state_.closing = true;
  SharedReceives* const shared = state_.bound.shared();
  if (shared != nullptr) shared->remove(*this);
  PeerReceives* const peer = shared == nullptr ? nullptr : shared->peer();
  if (peer != nullptr) entry.call_out([&] { peer->give_back(entry, state_.id); });
  entry.ses().close_endpoint(state_.id, entry.now());
  if (peer != nullptr) entry.call_out([&] { state_.bound.rx_cq()->end_receives(entry); });
  entry.post(FlushPolicy::Nothing());
  state_.enabled = false;
}

int EndpointCore::get_option(int level, int name, void* value, size_t* length) {
  if (level != FI_OPT_ENDPOINT) return -FI_ENOPROTOOPT;
  if (value == nullptr || length == nullptr) return -FI_EINVAL;
  size_t size_value = 0;
  switch (name) {
    case FI_OPT_MIN_MULTI_RECV:
      return rx_.min_multi_receive().get(value, length);
    case FI_OPT_CM_DATA_SIZE:
      size_value = 0;  // there are no connections that could carry data
      break;
#if UET_HAVE_SIZE_OPTS
    case FI_OPT_MAX_MSG_SIZE:
      size_value = state_.as.message_bytes_max;
      break;
    case FI_OPT_MAX_TAGGED_SIZE:
    case FI_OPT_MAX_RMA_SIZE:
      size_value = state_.as.datagram ? 0 : state_.as.message_bytes_max;
      break;
    case FI_OPT_INJECT_MSG_SIZE:
      size_value = std::min<size_t>(ses::kInjectBytes, state_.as.message_bytes_max);
      break;
    case FI_OPT_INJECT_TAGGED_SIZE:
    case FI_OPT_INJECT_RMA_SIZE:
      size_value = state_.as.datagram ? 0 : ses::kInjectBytes;
      break;
#endif
    case FI_OPT_FI_HMEM_P2P: {
      if (*length < sizeof(int)) return -FI_ETOOSMALL;
      const int p2p = FI_HMEM_P2P_DISABLED;
      std::memcpy(value, &p2p, sizeof(p2p));
      *length = sizeof(p2p);
      return 0;
    }
    default:
      return -FI_ENOPROTOOPT;
  }
  if (*length < sizeof(size_value)) return -FI_ETOOSMALL;
  std::memcpy(value, &size_value, sizeof(size_value));
  *length = sizeof(size_value);
  return 0;
}

// The peers of a domain are reached one way, whichever endpoint sends. [LF-142]
int EndpointCore::permit_shared_memory(const void* value, size_t length) const {
  bool is_permitted = false;
  if (length != sizeof is_permitted) return -FI_EINVAL;
  std::memcpy(&is_permitted, value, sizeof is_permitted);
  if (is_permitted || !state_.domain.settings().shm) return 0;
  UET_WARN(EP_CTRL,
           "FI_OPT_SHARED_MEMORY_PERMITTED: one endpoint cannot be kept from shared memory; set "
           "FI_UET_SHM=off for the process\n");
  return -FI_EOPNOTSUPP;
}

int EndpointCore::set_option(int level, int name, const void* value, size_t length) {
  if (level != FI_OPT_ENDPOINT) return -FI_ENOPROTOOPT;
  if (value == nullptr) return -FI_EINVAL;
  switch (name) {
    case FI_OPT_MIN_MULTI_RECV:
      return rx_.min_multi_receive().set(value, length);
    case FI_OPT_FI_HMEM_P2P: {
      int p2p = 0;
      if (length != sizeof(p2p)) return -FI_EINVAL;
      std::memcpy(&p2p, value, sizeof(p2p));
      return p2p == FI_HMEM_P2P_REQUIRED ? -FI_EOPNOTSUPP : 0;
    }
#if UET_HAVE_CUDA_OPT
    case FI_OPT_CUDA_API_PERMITTED:
      // No CUDA back end is built; the manual requires FI_EINVAL for this. [ABI-041]
      return -FI_EINVAL;
#endif
#if UET_HAVE_SHM_OPT
    case FI_OPT_SHARED_MEMORY_PERMITTED:
      return permit_shared_memory(value, length);
#endif
    default:
      return -FI_ENOPROTOOPT;
  }
}

int EndpointCore::get_name(void* address, size_t* length) {
  if (length == nullptr || (address == nullptr && *length > 0)) return -FI_EINVAL;
  if (state_.domain.home().is_called_back()) return refuse_call_back();
  // The address has the port of an engine.
  if (const int rc = choose_engine(); rc != 0) return rc;
  return state_.domain.names().write(name_, state_.at->local, state_.as.addr_format, address,
                                     length);
}

int EndpointCore::set_name(const void* address, size_t length) {
  state_.domain.home().require();
  if (address == nullptr) return -FI_EINVAL;
  if (state_.enabled) return -FI_EOPBADSTATE;
  const Result<ses::EndpointName> claimed =
      state_.domain.names().claim(address, length, state_.as.addr_format, nullptr, 0);
  if (!claimed.ok()) {
    return claimed.error() == Errc::exists ? -FI_EADDRINUSE : to_fi_errno(claimed.error());
  }
  const JobId job = name_.job;
  state_.domain.names().release(name_);
  name_ = *claimed;
  name_.job = job;
  return 0;
}

ssize_t EndpointCore::rx_size_left() {
  if (!state_.enabled) return -FI_EOPBADSTATE;
  if (state_.bound.shared() != nullptr) return state_.bound.shared()->rx_size_left();
  ProgressEngine::Entry entry(state_.engine());
  return state_.as.rx_size - std::min(entry.ses().receives_open(state_.id), state_.as.rx_size);
}

ssize_t EndpointCore::tx_size_left() {
  if (!state_.enabled) return -FI_EOPBADSTATE;
  ProgressEngine::Entry entry(state_.engine());
  return state_.as.tx_size - std::min(tx_.open(), state_.as.tx_size);
}

ssize_t EndpointCore::cancel(void* op_context) {
  if (!state_.enabled) return -FI_EOPBADSTATE;
  ProgressEngine::Entry entry(state_.engine());
  const bool cancelled = entry.ses().cancel(state_.id, op_context, entry.now());
  entry.post(FlushPolicy::Nothing());
  return cancelled ? 0 : -FI_ENOENT;
}

}  // namespace uet::prov
