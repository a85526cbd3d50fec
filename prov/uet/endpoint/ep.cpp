// Endpoint: the fid and its aliases.
#include "prov/uet/endpoint/ep.h"

#include "prov/uet/api/log.h"
#include "prov/uet/api/not_offered.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/domain/domain.h"
#include "prov/uet/domain/info.h"
#include "prov/uet/observe/counters.h"

#include <memory>

namespace uet::prov {
namespace {

// Flags that have a meaning as an endpoint's defaults.
constexpr uint64_t kTxDefaults = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE |
                                 FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE;
constexpr uint64_t kRxDefaults = FI_COMPLETION | FI_MULTI_RECV;

}  // namespace

fi_ops* Endpoint::fid_ops() { return &endpoint_fid_ops; }

int Endpoint::open(Domain& domain, fi_info* info, uint64_t flags, fid_ep** ep, void* context) {
  if (flags != 0) return -FI_EBADFLAGS;
  domain.home().require();
  if (info == nullptr || ep == nullptr || info->ep_attr == nullptr) return -FI_EINVAL;
  const fi_ep_attr& attr = *info->ep_attr;
  if (attr.type != FI_EP_RDM && attr.type != FI_EP_DGRAM && attr.type != FI_EP_UNSPEC) {
    UET_WARN(EP_CTRL, "fi_endpoint: only FI_EP_RDM and FI_EP_DGRAM are offered\n");
    return -FI_EOPNOTSUPP;
  }
  if (attr.tx_ctx_cnt > 1 || (attr.rx_ctx_cnt > 1 && attr.rx_ctx_cnt != FI_SHARED_CONTEXT)) {
    UET_WARN(EP_CTRL,
             "fi_endpoint: scalable endpoints and shared transmit contexts are not "
             "offered\n");
    return -FI_EOPNOTSUPP;
  }
  if (is_of_trimmed(domain.settings(), class_of(*info))) {
    UET_WARN(EP_CTRL,
             "fi_endpoint: the DSCP of that tclass is the one of trimmed packets; choose another "
             "tclass, or set FI_UET_DSCP_TRIMMED and FI_UET_DSCP_TRIMMED_LASTHOP\n");
    return -FI_EINVAL;
  }
  if (domain.names().count() >= kEndpointCount) return no_endpoint_left();
  const Result<ses::EndpointName> name = domain.names().claim(
      info->src_addr, info->src_addrlen, info->addr_format, attr.auth_key, attr.auth_key_size);
  if (!name.ok()) {
    UET_WARN(EP_CTRL, "fi_endpoint: the source address cannot be used: %s\n",
             uet::name(name.error()));
    return name.error() == Errc::exists ? -FI_EADDRINUSE : to_fi_errno(name.error());
  }
  auto core = std::make_unique<EndpointCore>(domain, *info, *name);
  const uint64_t tx = info->tx_attr != nullptr ? info->tx_attr->op_flags & kTxDefaults : 0;
  const uint64_t rx = info->rx_attr != nullptr ? info->rx_attr->op_flags & kRxDefaults : 0;
  std::unique_ptr<Endpoint> self(new Endpoint(*core, tx, rx, context));
  core.release()->join(self->link_.fid.fid);
  *ep = &self.release()->link_.fid;
  return 0;
}

Endpoint::Endpoint(EndpointCore& core, uint64_t tx_flags, uint64_t rx_flags, void* context)
    : core_(core), tx_flags_(tx_flags), rx_flags_(rx_flags) {
  fid_ep& fid = link_.fid;
  fid.fid.fclass = FI_CLASS_EP;
  fid.fid.context = context;
  fid.fid.ops = &endpoint_fid_ops;
  fid.ops = &endpoint_ops;
  fid.cm = &endpoint_cm_ops;
  fid.msg = &message_ops;
  fid.rma = &rma_ops;
  fid.tagged = &tagged_ops;
  fid.atomic = &atomic_ops;
  fid.collective = &no_collective_ops;
  link_.owner = this;
}

int Endpoint::close() {
  core_.domain().home().require();
  if (core_.leave(link_.fid.fid)) {
    core_.shut_down();
    delete &core_;
  }
  delete this;
  return 0;
}

int Endpoint::control(int command, void* arg) {
  switch (command) {
    case FI_ENABLE:
      return core_.enable();
    case FI_GETOPSFLAG:
      return arg != nullptr ? get_flags(*static_cast<uint64_t*>(arg)) : -FI_EINVAL;
    case FI_SETOPSFLAG:
      return arg != nullptr ? set_flags(*static_cast<const uint64_t*>(arg)) : -FI_EINVAL;
    case FI_ALIAS:
      return arg != nullptr ? alias(*static_cast<struct fi_alias*>(arg)) : -FI_EINVAL;
    case FI_UET_GET_COUNTERS:
      return copy_counters(core_.domain(), arg);
    default:
      return -FI_ENOSYS;
  }
}

// FI_TRANSMIT or FI_RECV in `flags` says which defaults are meant.
int Endpoint::get_flags(uint64_t& flags) const {
  const bool tx = (flags & FI_TRANSMIT) != 0;
  const bool rx = (flags & FI_RECV) != 0;
  if (tx == rx) return -FI_EINVAL;
  flags = tx ? tx_flags_ : rx_flags_;
  return 0;
}

int Endpoint::set_flags(uint64_t flags) {
  const bool tx = (flags & FI_TRANSMIT) != 0;
  const bool rx = (flags & FI_RECV) != 0;
  const uint64_t defaults = flags & ~(FI_TRANSMIT | FI_RECV);
  if (tx == rx || (defaults & ~(tx ? kTxDefaults : kRxDefaults)) != 0) {
    UET_WARN(EP_CTRL,
             "operation flags 0x%llx: give FI_TRANSMIT or FI_RECV with flags that are "
             "defaults of that side\n",
             static_cast<unsigned long long>(flags));
    return -FI_EINVAL;
  }
  (tx ? tx_flags_ : rx_flags_) = defaults;
  return 0;
}

// [LF-099]
int Endpoint::alias(struct fi_alias& request) {
  if (request.fid == nullptr) return -FI_EINVAL;
  std::unique_ptr<Endpoint> other(new Endpoint(core_, tx_flags_, rx_flags_, link_.fid.fid.context));
  if (request.flags != 0) {
    if (const int rc = other->set_flags(request.flags); rc != 0) return rc;
  }
  core_.join(other->link_.fid.fid);
  *request.fid = &other.release()->link_.fid.fid;
  return 0;
}

}  // namespace uet::prov
