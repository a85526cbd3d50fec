// EndpointCore's set-up: what an endpoint is opened as, bound to, named, and how it ends.
#include "prov/uet/endpoint/ep.h"

#include "prov/uet/address/av.h"
#include "prov/uet/api/log.h"
#include "prov/uet/completion/cntr.h"
#include "prov/uet/completion/eq.h"
#include "prov/uet/domain/domain.h"
#include "prov/uet/endpoint/shared_receives.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace uet::prov {
namespace {

constexpr uint32_t kDefaultQueueSize = 1024;
constexpr uint32_t kQueueSizeMax = 1u << 16;

// Any of these asks for an order between messages, which only ROD gives. [LF-089]
constexpr uint64_t kOrderBits = 0x1FFULL | (0xFFULL << 32);

// DSCP of a traffic class, or `otherwise` where there is none; control packets keep theirs.
// [LF-092]
TrafficClass traffic_class(uint32_t tclass, uint8_t otherwise) {
  if ((tclass & FI_TC_DSCP) != 0) return TrafficClass{static_cast<uint8_t>(tclass & 0x3F)};
  switch (tclass) {
    case FI_TC_LOW_LATENCY:
      return TrafficClass{40};
    case FI_TC_DEDICATED_ACCESS:
      return TrafficClass{34};
    case FI_TC_SCAVENGER:
      return TrafficClass{1};
    case FI_TC_NETWORK_CTRL:
      return TrafficClass{48};
    default:
      return TrafficClass{otherwise};
  }
}

// The endpoint's own class, else the domain's.
uint32_t class_of(const fi_info& info) {
  if (info.tx_attr != nullptr && info.tx_attr->tclass != FI_TC_UNSPEC) return info.tx_attr->tclass;
  return info.domain_attr != nullptr ? info.domain_attr->tclass : uint32_t{FI_TC_UNSPEC};
}

// Before 2.0 every value is a mask of bits. [LF-067]
uint64_t tag_format_of(const fi_info& info, uint32_t api_version) {
  if (info.ep_attr == nullptr || api_version < FI_VERSION(2, 0)) return kTagFormat;
  return info.ep_attr->mem_tag_format;
}

bool asks_for_order(const fi_info& info) {
  const uint64_t tx = info.tx_attr != nullptr ? info.tx_attr->msg_order : 0;
  const uint64_t rx = info.rx_attr != nullptr ? info.rx_attr->msg_order : 0;
  return ((tx | rx) & kOrderBits) != 0;
}

// An endpoint cannot have objects of two domains. [fi_endpoint, ERRORS]
int other_domain(const char* object) {
  UET_WARN(EP_CTRL, "fi_ep_bind: the %s is of another domain\n", object);
  return -FI_EDOMAIN;
}

}  // namespace

uint32_t endpoint_queue_size(size_t asked) {
  if (asked == 0) return kDefaultQueueSize;
  return static_cast<uint32_t>(std::min<size_t>(asked, kQueueSizeMax));
}

EndpointCore::EndpointCore(Domain& domain, const fi_info& info, const ses::EndpointName& name)
    : domain_(domain),
      engine_(domain.engine()),
      caps_(info.caps != 0 ? info.caps : domain.caps()),
      tx_size_(endpoint_queue_size(info.tx_attr != nullptr ? info.tx_attr->size : 0)),
      rx_size_(endpoint_queue_size(info.rx_attr != nullptr ? info.rx_attr->size : 0)),
      name_(name),
      addr_format_(info.addr_format),
      tc_(traffic_class(class_of(info), domain.settings().dscp_data)),
      tag_format_(tag_format_of(info, domain.api_version())),
      mode_(domain.settings().mode),
      ordered_(asks_for_order(info)),
      datagram_(info.ep_attr != nullptr && info.ep_attr->type == FI_EP_DGRAM),
      shares_(info.ep_attr != nullptr && info.ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT) {
  if (datagram_) caps_ &= ~(FI_TAGGED | FI_RMA);  // when they come from the domain
  domain_.add_ref();
}

EndpointCore::~EndpointCore() {
  unbind();
  domain_.release_name(name_);
  domain_.drop_ref();
}

// FI_UET_MODE wins; fi_getinfo refused the orders that it cannot keep. [SES-026, SES-028, LF-089]
pds::Mode EndpointCore::delivery_mode() const {
  if (datagram_) return pds::Mode::uud;
  if (mode_ == ModeChoice::rod) return pds::Mode::rod;
  return ordered_ ? pds::Mode::rod : pds::Mode::rud;
}

// [LF-073, LF-072]
size_t EndpointCore::max_message_bytes() const {
  return datagram_ ? domain_.payload_mtu() : ses::kMaxMessageBytes;
}

int EndpointCore::bind(const struct fid& endpoint, fid* fid, uint64_t flags) {
  engine_.home().require();
  if (enabled_) {
    UET_WARN(EP_CTRL, "fi_ep_bind: the endpoint is enabled; bind everything before fi_enable\n");
    return -FI_EOPBADSTATE;
  }
  if (auto* cq = checked_object_of<CompletionQueue>(fid)) return bind_cq(*cq, flags);
  if (auto* counter = checked_object_of<Counter>(fid)) return bind_counter(*counter, flags);
  if (auto* av = checked_object_of<AddressVector>(fid)) return bind_av(*av);
  if (auto* shared = checked_object_of<SharedReceives>(fid)) return bind_shared(*shared);
  if (auto* eq = checked_object_of<EventQueue>(fid)) {
    if (eq_ != nullptr) return -FI_EINVAL;
    eq_ = eq;
    eq_->add_ref();
    eq_owner_ = &endpoint;
    domain_.failures().add(endpoint, *eq);
    return 0;
  }
  UET_WARN(EP_CTRL,
           "fi_ep_bind: only a CQ, counter, AV, EQ or shared receive context of this "
           "provider can be bound\n");
  return -FI_EINVAL;
}

int EndpointCore::bind_cq(CompletionQueue& cq, uint64_t flags) {
  constexpr uint64_t kKnown = FI_TRANSMIT | FI_RECV | FI_REMOTE_WRITE | FI_SELECTIVE_COMPLETION;
  const bool tx = (flags & FI_TRANSMIT) != 0;
  const bool rx = (flags & FI_RECV) != 0;
  if ((flags & ~kKnown) != 0 || (!tx && !rx)) {
    UET_WARN(EP_CTRL,
             "fi_ep_bind: a CQ is bound with FI_TRANSMIT, FI_RECV or both, and maybe "
             "FI_SELECTIVE_COMPLETION; flags are 0x%llx\n",
             static_cast<unsigned long long>(flags));
    return -FI_EBADFLAGS;
  }
  if (&cq.domain() != &domain_) return other_domain("CQ");
  if ((tx && tx_cq_ != nullptr) || (rx && rx_cq_ != nullptr)) {
    UET_WARN(EP_CTRL, "fi_ep_bind: there is a CQ for that direction already\n");
    return -FI_EINVAL;
  }
  const bool selective = (flags & FI_SELECTIVE_COMPLETION) != 0;
  if (tx) {
    cq.attach(tx_size_);
    tx_cq_ = &cq;
    tx_selective_ = selective;
  }
  if (rx) {
    cq.attach(rx_size_);
    rx_cq_ = &cq;
    rx_selective_ = selective;
  }
  return 0;
}

int EndpointCore::bind_counter(Counter& counter, uint64_t flags) {
  static constexpr std::array<uint64_t, kCounterSlots> kFlags = {
      FI_SEND, FI_RECV, FI_READ, FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE};
  uint64_t known = 0;
  for (const uint64_t flag : kFlags) known |= flag;
  if (flags == 0 || (flags & ~known) != 0) {
    UET_WARN(EP_CTRL,
             "fi_ep_bind: a counter is bound with FI_SEND, RECV, READ, WRITE or their "
             "REMOTE_ forms; flags are 0x%llx\n",
             static_cast<unsigned long long>(flags));
    return -FI_EBADFLAGS;
  }
  if (&counter.domain() != &domain_) return other_domain("counter");
  for (uint32_t slot = 0; slot < kCounterSlots; ++slot) {
    if ((flags & kFlags[slot]) != 0 && counters_[slot] != nullptr) return -FI_EINVAL;
  }
  for (uint32_t slot = 0; slot < kCounterSlots; ++slot) {
    if ((flags & kFlags[slot]) == 0) continue;
    counters_[slot] = &counter;
    counter.add_ref();
  }
  return 0;
}

int EndpointCore::bind_av(AddressVector& av) {
  if (&av.domain() != &domain_) return other_domain("AV");
  if (av_ != nullptr) return -FI_EINVAL;
  if (shared_ != nullptr && !shared_->join(av)) return -FI_EINVAL;
  av_ = &av;
  av_->add_ref();
  return 0;
}

int EndpointCore::bind_shared(SharedReceives& shared) {
  if (&shared.domain() != &domain_) return other_domain("shared receive context");
  if (shared_ != nullptr) return -FI_EINVAL;
  if (!shares_) {
    UET_WARN(EP_CTRL,
             "fi_ep_bind: an endpoint that shares its receives is opened with "
             "ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT\n");
    return -FI_EINVAL;
  }
  if (av_ != nullptr && !shared.join(*av_)) return -FI_EINVAL;
  shared_ = &shared;
  shared_->add_ref();
  return 0;
}

void EndpointCore::unbind() {
  if (tx_cq_ != nullptr) tx_cq_->detach(tx_size_);
  if (rx_cq_ != nullptr) rx_cq_->detach(rx_size_);
  if (!held_keys_.empty()) {
    const ProgressEngine::Entry entry(engine_);
    av_->keys().release(held_keys_);
  }
  if (shared_ != nullptr) {
    if (av_ != nullptr) shared_->leave(*av_);
    shared_->drop_ref();
  }
  if (av_ != nullptr) av_->drop_ref();
  if (eq_ != nullptr) {
    domain_.failures().remove(*eq_owner_);
    eq_->drop_ref();
  }
  for (Counter* counter : counters_) {
    if (counter != nullptr) counter->drop_ref();
  }
}

int EndpointCore::enable() {
  engine_.home().require();
  if (enabled_) return 0;
  if (av_ == nullptr) {
    UET_WARN(EP_CTRL, "fi_enable: bind an address vector first\n");
    return -FI_ENOAV;
  }
  const bool tx_reported = tx_cq_ != nullptr || counters_[kSendCounter] != nullptr ||
                           counters_[kWriteCounter] != nullptr ||
                           counters_[kReadCounter] != nullptr;
  const bool rx_reported = rx_cq_ != nullptr || counters_[kRecvCounter] != nullptr;
  if (!tx_reported && !rx_reported) {
    UET_WARN(EP_CTRL, "fi_enable: bind a completion queue (FI_TRANSMIT and FI_RECV) first\n");
    return -FI_ENOCQ;
  }
  if (shares_ && shared_ == nullptr) {
    UET_WARN(EP_CTRL, "fi_enable: bind the shared receive context first\n");
    return -FI_EOPBADSTATE;
  }
  ses::Ses::EndpointOptions options;
  options.mode = delivery_mode();
  options.tc = tc_;
  options.tx_size = tx_size_;
  options.rx_size = rx_size_;
  if (shared_ != nullptr) options.shared = shared_->id();
  const ses::CompletionSink tx{this, &on_tx, &on_reserve, &on_release, true};
  const ses::CompletionSink rx{this,
                               &on_rx,
                               &on_reserve,
                               &on_release,
                               rx_cq_ != nullptr && rx_cq_->carries_data(),
                               (caps_ & FI_RMA_EVENT) != 0};
  ProgressEngine::Entry entry(engine_);
  if (domain_.has_av_keys()) {  // those of now, and none that come later [LF-019]
    jobs_ = av_->keys().jobs();
    if (jobs_.empty()) {
      UET_WARN(EP_CTRL, "fi_enable: with FI_AV_AUTH_KEY, insert authorization keys first\n");
      return -FI_ENOKEY;
    }
    options.jobs = jobs_;
  }
  const Result<ses::EndpointId> opened = entry.ses().open_endpoint(name_, options, tx, rx);
  if (!opened.ok()) {
    if (opened.error() == Errc::again) return no_endpoint_left();
    UET_WARN(EP_CTRL, "fi_enable: the stack refused the endpoint: %s\n", uet::name(opened.error()));
    return opened.error() == Errc::exists ? -FI_EADDRINUSE : to_fi_errno(opened.error());
  }
  if (domain_.has_av_keys()) held_keys_ = av_->keys().hold();
  id_ = *opened;
  if (shared_ != nullptr) shared_->add(*this);
  enabled_ = true;
  return 0;
}

// When all are in use: as many again. Each has at least two messages in flight, so there is an end
// to it. False: no memory.
bool EndpointCore::add_groups() {
  constexpr size_t kFirst = 16;
  const size_t before = groups_.size();
  try {
    groups_.resize(std::clamp<size_t>(2 * before, kFirst, tx_size_ / 2 + kFirst));
  } catch (const std::bad_alloc&) {
    return false;
  }
  for (size_t i = before; i < groups_.size(); ++i) {
    groups_[i].next_free = static_cast<uint32_t>(i + 1);
  }
  return groups_.size() > before;
}

void EndpointCore::shut_down() {
  if (!enabled_) return;
  uint32_t left = 0;
  {
    const ProgressEngine::Entry entry(engine_);
    left = unreported_;
  }
  const Duration linger = domain_.settings().linger;
  const auto none_left = [&](auto&) {
    left = unreported_;
    return left == 0;
  };
  if (left > 0 && !engine_.run_until(linger, none_left)) {
    UET_WARN(EP_CTRL,
             "fi_close: %u operations that had been reported as done are lost: their peers did "
             "not confirm them within %lld ms (FI_UET_LINGER)\n",
             left, static_cast<long long>(linger.ns() / 1'000'000));
  }
  ProgressEngine::Entry entry(engine_);
  closing_ = true;
  if (shared_ != nullptr) shared_->remove(*this);
  entry.ses().close_endpoint(id_, entry.now());
  entry.post(FlushPolicy::Nothing());
  enabled_ = false;
}

int EndpointCore::get_option(int level, int name, void* value, size_t* length) {
  if (level != FI_OPT_ENDPOINT) return -FI_ENOPROTOOPT;
  if (value == nullptr || length == nullptr) return -FI_EINVAL;
  size_t size_value = 0;
  switch (name) {
    case FI_OPT_MIN_MULTI_RECV:
      size_value = min_multi_recv_;
      break;
    case FI_OPT_CM_DATA_SIZE:
      size_value = 0;  // there are no connections to carry any
      break;
#if UET_HAVE_SIZE_OPTS
    case FI_OPT_MAX_MSG_SIZE:
    case FI_OPT_MAX_TAGGED_SIZE:
    case FI_OPT_MAX_RMA_SIZE:
      size_value = max_message_bytes();
      break;
    case FI_OPT_INJECT_MSG_SIZE:
    case FI_OPT_INJECT_TAGGED_SIZE:
    case FI_OPT_INJECT_RMA_SIZE:
      size_value = ses::kInjectBytes;
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

int EndpointCore::set_option(int level, int name, const void* value, size_t length) {
  if (level != FI_OPT_ENDPOINT) return -FI_ENOPROTOOPT;
  if (value == nullptr) return -FI_EINVAL;
  switch (name) {
    case FI_OPT_MIN_MULTI_RECV: {
      size_t octets = 0;
      if (length != sizeof(octets)) return -FI_EINVAL;
      std::memcpy(&octets, value, sizeof(octets));
      if (octets > UINT32_MAX) return -FI_EINVAL;
      min_multi_recv_ = static_cast<uint32_t>(octets);
      return 0;
    }
    case FI_OPT_FI_HMEM_P2P: {
      int p2p = 0;
      if (length != sizeof(p2p)) return -FI_EINVAL;
      std::memcpy(&p2p, value, sizeof(p2p));
      return p2p == FI_HMEM_P2P_REQUIRED ? -FI_EOPNOTSUPP : 0;
    }
#if UET_HAVE_CUDA_OPT
    case FI_OPT_CUDA_API_PERMITTED:
      // No CUDA back end is built, which the manual wants told as FI_EINVAL. [ABI-041]
      return -FI_EINVAL;
#endif
#if UET_HAVE_SHM_OPT
    case FI_OPT_SHARED_MEMORY_PERMITTED:
      return 0;  // no shared memory is used either way
#endif
    default:
      return -FI_ENOPROTOOPT;
  }
}

int EndpointCore::get_name(void* address, size_t* length) {
  if (length == nullptr || (address == nullptr && *length > 0)) return -FI_EINVAL;
  return domain_.write_name(name_, addr_format_, address, length);
}

int EndpointCore::set_name(const void* address, size_t length) {
  engine_.home().require();
  if (address == nullptr) return -FI_EINVAL;
  if (enabled_) return -FI_EOPBADSTATE;
  const Result<ses::EndpointName> claimed =
      domain_.claim_name(address, length, addr_format_, nullptr, 0);
  if (!claimed.ok()) {
    return claimed.error() == Errc::exists ? -FI_EADDRINUSE : to_fi_errno(claimed.error());
  }
  const JobId job = name_.job;
  domain_.release_name(name_);
  name_ = *claimed;
  name_.job = job;
  return 0;
}

ssize_t EndpointCore::rx_size_left() {
  if (!enabled_) return -FI_EOPBADSTATE;
  if (shared_ != nullptr) return shared_->rx_size_left();
  ProgressEngine::Entry entry(engine_);
  return rx_size_ - std::min(entry.ses().receives_open(id_), rx_size_);
}

ssize_t EndpointCore::tx_size_left() {
  if (!enabled_) return -FI_EOPBADSTATE;
  ProgressEngine::Entry entry(engine_);
  return tx_size_ - std::min(tx_open_, tx_size_);
}

}  // namespace uet::prov
