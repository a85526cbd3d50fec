// Shared receive contexts; see shared_receives.h.
#include "prov/uet/endpoint/shared_receives.h"

#include "prov/uet/address/av.h"
#include "prov/uet/api/log.h"
#include "prov/uet/api/not_offered.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/domain/domain.h"
#include "prov/uet/endpoint/ep_core.h"
#include "prov/uet/endpoint/receive_call.h"
#include "prov/uet/endpoint/slices.h"

#include <algorithm>
#include <memory>
#include <mutex>

namespace uet::prov {
namespace {

constexpr uint64_t kDefaults = FI_COMPLETION | FI_MULTI_RECV;

}  // namespace

fi_ops* SharedReceives::fid_ops() { return &shared_receives_fid_ops; }

int SharedReceives::open(Domain& domain, fi_rx_attr* attr, fid_ep** ep, void* context) {
  domain.home().require();
  if (ep == nullptr) return -FI_EINVAL;
  const fi_rx_attr none{};
  const fi_rx_attr& wanted = attr != nullptr ? *attr : none;
  std::unique_ptr<PeerReceives> peer;
  if ((wanted.op_flags & FI_PEER) != 0) {
    if (!domain.may_import("fi_srx_context")) return -FI_EINVAL;
    peer = PeerReceives::import(domain, context);
    if (peer == nullptr) return -FI_EINVAL;
  }
  std::unique_ptr<SharedReceives> self(new SharedReceives(domain, wanted, context));
  self->peer_ = std::move(peer);
  {
    ProgressEngine::Entry entry(domain.first_engine());
    const auto opened = self->open_queue(entry);
    if (!opened.ok()) {
      UET_WARN(
          EP_CTRL,
          "fi_srx_context: no receive context: %s; close unused ones, or lower rx_attr->size\n",
          uet::name(opened.error()));
      return to_fi_errno(opened.error());
    }
    self->id_ = *opened;
    if (self->peer_) self->peer_->set_queue(self->id_);
  }
  domain.add_ref();
  *ep = &self.release()->link_.fid;
  return 0;
}

Result<ses::ReceiveQueueId> SharedReceives::open_queue(ProgressEngine::Entry& entry) {
  if (peer_) return entry.ses().open_owned(size_, *peer_);
  return entry.ses().open_shared(size_);
}

SharedReceives::SharedReceives(Domain& domain, const fi_rx_attr& attr, void* context)
    : domain_(domain),
      engine_(domain.first_engine()),
      caps_(attr.caps != 0 ? attr.caps : domain.terms().caps),
      flags_(attr.op_flags & kDefaults),
      size_(endpoint_queue_size(attr.size)) {
  fid_ep& fid = link_.fid;
  fid.fid.fclass = FI_CLASS_SRX_CTX;
  fid.fid.context = context;
  fid.fid.ops = &shared_receives_fid_ops;
  fid.ops = &shared_receives_ops;
  fid.cm = &no_cm_ops;
  fid.msg = &shared_message_ops;
  fid.rma = &no_rma_ops;
  fid.tagged = &shared_tagged_ops;
  fid.atomic = &no_atomic_ops;
  fid.collective = &no_collective_ops;
  link_.owner = this;
}

int SharedReceives::refuse_bind() {
  UET_WARN(EP_CTRL,
           "fi_ep_bind: nothing is bound to a shared receive context; bind the context, "
           "CQs and the address vector to its endpoints\n");
  return -FI_EINVAL;
}

int SharedReceives::close() {
  engine_.home().require();
  if (refs_ != 0) {
    UET_WARN(EP_CTRL,
             "fi_close: %u endpoints are bound to this receive context; close them first\n",
             refs_.load());
    return -FI_EBUSY;
  }
  if (peer_) peer_->retire();
  {
    ProgressEngine::Entry entry(engine_);
    entry.ses().close_shared(id_, entry.now());
  }
  domain_.drop_ref();
  delete this;
  return 0;
}

// [fi_endpoint, SHARED CONTEXTS]
bool SharedReceives::join(AddressVector& av) {
  {
    ProgressEngine::Entry entry(engine_);
    if (av_users_ != 0 && av_ != &av) {
      UET_WARN(
          EP_CTRL,
          "fi_ep_bind: all endpoints of a shared receive context use the same address vector\n");
      return false;
    }
    av_ = &av;
    if (++av_users_ != 1 || !peer_) return true;
    peer_->set_addresses(&av);
  }
  const std::lock_guard lock(domain_.engines().set_up_lock());
  av.listeners().push_back(peer_.get());
  return true;
}

// The owner does not close its endpoint while it inserts addresses.
void SharedReceives::leave(AddressVector& av) {
  {
    ProgressEngine::Entry entry(engine_);
    UET_ASSERT(av_ == &av && av_users_ > 0);
    if (--av_users_ != 0) return;
    av_ = nullptr;
    if (!peer_) return;
    peer_->set_addresses(nullptr);
  }
  const std::lock_guard lock(domain_.engines().set_up_lock());
  std::erase(av.listeners(), peer_.get());
}

ssize_t SharedReceives::check_post(bool tagged) const {
  if (engine_.home().is_called_back()) return refuse_call_back();
  if (engine_.home().is_elsewhere()) return -FI_EOPBADSTATE;
  if (peer_) {
    UET_WARN(EP_DATA, "this receive context belongs to another provider (FI_PEER): post there\n");
    return -FI_EOPNOTSUPP;
  }
  if ((caps_ & (tagged ? FI_TAGGED : FI_MSG)) == 0) {
    UET_WARN(EP_DATA,
             "the shared receive context was opened without %s; ask fi_getinfo for it in "
             "hints->caps\n",
             tagged ? "FI_TAGGED" : "FI_MSG");
    return -FI_EOPNOTSUPP;
  }
  return 0;
}

ssize_t SharedReceives::receive(const MessageCall& call) {
  if (const ssize_t rc = check_post(call.tagged); rc != 0) return rc;
  if (const ssize_t rc = check_receive(call, kTagFormat); rc != 0) return rc;
  const bool looks = (call.flags & (FI_PEEK | FI_DISCARD)) != 0;
  Slices slices;
  if (const int rc = looks ? 0 : slices.assign(call.iov, call.count); rc != 0) return rc;

  ses::ReceiveRequest request = receive_request(call, slices.view(), min_multi_.bytes());
  request.context = Receptions::context_of(call, (call.flags & FI_COMPLETION) != 0);

  ProgressEngine::Entry entry(engine_);
  if (const ssize_t rc = aim_receive(call, caps_, av_, domain_.engines().first(), request); rc != 0)
    return rc;
  return looks ? look(entry, call, request) : post(entry, call, request);
}

ssize_t SharedReceives::post(ProgressEngine::Entry& entry, const MessageCall& call,
                             const ses::ReceiveRequest& request) {
  const Result<void> posted = post_or_claim(entry, id_, call, request);
  if (!posted.ok()) {
    entry.poll();
    return to_fi_errno(posted.error());
  }
  entry.post(FlushPolicy::Receive{(call.flags & FI_MORE) != 0});
  return 0;
}

// The endpoint of the message reports it; if there is none, the oldest endpoint does.
ssize_t SharedReceives::look(ProgressEngine::Entry& entry, const MessageCall& call,
                             const ses::ReceiveRequest& request) {
  if (endpoints_.empty()) {
    UET_WARN(
        EP_DATA,
        "no enabled endpoint is bound to the receive context: no completion could be reported\n");
    return -FI_EOPBADSTATE;
  }
  EndpointCore* teller = endpoints_.front();
  if ((call.flags & FI_PEEK) != 0) {
    entry.poll();  // makes arrived packets visible
    const auto seen = entry.ses().claims().peek(teller->id(), request, false, entry.now());
    if (seen.found) teller = endpoint(seen.endpoint);
  } else {
    const auto claimed = entry.ses().claims().endpoint_of(id_, kept_claim(call.context));
    if (claimed.ok()) teller = endpoint(*claimed);
  }
  return teller->rx().look(entry, call, request);
}

EndpointCore* SharedReceives::endpoint(ses::EndpointId id) {
  const auto found = std::find_if(endpoints_.begin(), endpoints_.end(),
                                  [id](const EndpointCore* ep) { return ep->id() == id; });
  UET_ASSERT(found != endpoints_.end());
  return *found;
}

ssize_t SharedReceives::cancel(void* op_context) {
  ProgressEngine::Entry entry(engine_);
  const Result<void> cancelled = entry.ses().cancel(id_, op_context, entry.now());
  entry.post(FlushPolicy::Nothing());
  return cancelled.ok() ? 0 : to_fi_errno(cancelled.error());
}

ssize_t SharedReceives::rx_size_left() {
  ProgressEngine::Entry entry(engine_);
  return size_ - std::min(entry.ses().receives_open(id_), size_);
}

int SharedReceives::get_option(int level, int name, void* value, size_t* length) {
  if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  return min_multi_.get(value, length);
}

int SharedReceives::set_option(int level, int name, const void* value, size_t length) {
  if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  return min_multi_.set(value, length);
}

}  // namespace uet::prov
