// Binding, checks for missing objects, and release; see bindings.h.
#include "prov/uet/endpoint/bindings.h"

#include "prov/uet/address/av.h"
#include "prov/uet/api/log.h"
#include "prov/uet/completion/cq.h"
#include "prov/uet/completion/eq.h"
#include "prov/uet/domain/domain.h"
#include "prov/uet/endpoint/shared_receives.h"

#include <algorithm>

namespace uet::prov {
namespace {

// An endpoint cannot have objects of two domains. [fi_endpoint, ERRORS]
int other_domain(const char* object) {
  UET_WARN(EP_CTRL, "fi_ep_bind: the %s belongs to another domain: open one in this domain\n",
           object);
  return -FI_EDOMAIN;
}

}  // namespace

int Bindings::bind(const struct fid& endpoint, fid* fid, uint64_t flags) {
  if (auto* cq = checked_object_of<CompletionQueue>(fid)) return bind_cq(*cq, flags);
  if (auto* counter = checked_object_of<Counter>(fid)) return bind_counter(*counter, flags);
  if (auto* av = checked_object_of<AddressVector>(fid)) return bind_av(*av);
  if (auto* shared = checked_object_of<SharedReceives>(fid)) return bind_shared(*shared);
  if (auto* eq = checked_object_of<EventQueue>(fid)) return bind_eq(endpoint, *eq);
  UET_WARN(EP_CTRL,
           "fi_ep_bind: only a CQ, counter, AV, EQ or shared receive context of this "
           "provider can be bound\n");
  return -FI_EINVAL;
}

int Bindings::bind_cq(CompletionQueue& cq, uint64_t flags) {
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
    UET_WARN(EP_CTRL,
             "fi_ep_bind: the endpoint already has a CQ for %s: bind one CQ for each of "
             "FI_TRANSMIT and FI_RECV, or one CQ for both\n",
             tx && tx_cq_ != nullptr ? "FI_TRANSMIT" : "FI_RECV");
    return -FI_EINVAL;
  }
  const bool selective = (flags & FI_SELECTIVE_COMPLETION) != 0;
  if (tx) {
    cq.attach(as_.tx_size);
    tx_cq_ = &cq;
    tx_selective_ = selective;
  }
  if (rx) {
    cq.attach(as_.rx_size);
    rx_cq_ = &cq;
    rx_selective_ = selective;
  }
  return 0;
}

int Bindings::bind_counter(Counter& counter, uint64_t flags) {
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

int Bindings::bind_av(AddressVector& av) {
  if (&av.domain() != &domain_) return other_domain("AV");
  if (av_ != nullptr) return -FI_EINVAL;
  if (shared_ != nullptr && !shared_->join(av)) return -FI_EINVAL;
  av_ = &av;
  av_->add_ref();
  return 0;
}

int Bindings::bind_shared(SharedReceives& shared) {
  if (&shared.domain() != &domain_) return other_domain("shared receive context");
  if (shared_ != nullptr) return -FI_EINVAL;
  if (!as_.shares && shared.peer() == nullptr) {
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

int Bindings::bind_eq(const struct fid& endpoint, EventQueue& eq) {
  if (eq_ != nullptr) return -FI_EINVAL;
  eq_ = &eq;
  eq_->add_ref();
  eq_owner_ = &endpoint;
  domain_.failures().add(endpoint, eq);
  return 0;
}

// The queues and counters, each once.
std::vector<WaitObject*> Bindings::wait_objects() const {
  std::vector<WaitObject*> found;
  const auto add = [&](WaitObject& object) {
    if (std::find(found.begin(), found.end(), &object) == found.end()) found.push_back(&object);
  };
  if (tx_cq_ != nullptr) add(tx_cq_->wait());
  if (rx_cq_ != nullptr) add(rx_cq_->wait());
  for (Counter* counter : counters_) {
    if (counter != nullptr) add(counter->wait_object());
  }
  return found;
}

DomainEngine* Bindings::choose_engine() {
  DomainEngine* const engine = choice_.choose(wait_objects(), shared_ != nullptr);
  if (engine == nullptr) {
    UET_WARN(
        EP_CTRL,
        "what is bound to the endpoint runs in different engines: use queues and counters that "
        "only endpoints with the same ones use, call fi_getname after fi_enable, or set "
        "FI_UET_ENGINES=1\n");
  }
  return engine;
}

void Bindings::rename_event_owner(const struct fid& from, const struct fid& to) {
  if (eq_owner_ != &from) return;
  domain_.failures().remove(from);
  domain_.failures().add(to, *eq_);
  eq_owner_ = &to;
}

void Bindings::release() {
  choice_.release();
  if (tx_cq_ != nullptr) tx_cq_->detach(as_.tx_size);
  if (rx_cq_ != nullptr) rx_cq_->detach(as_.rx_size);
  if (!held_keys_.empty()) {
    const ProgressEngine::Entry entry(domain_.first_engine());
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

int Bindings::check_complete() const {
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
  if (as_.shares && shared_ == nullptr) {
    UET_WARN(EP_CTRL, "fi_enable: bind the shared receive context first\n");
    return -FI_EOPBADSTATE;
  }
  // Only a read of an imported queue is a turn of its owner, in which receives are requested.
  // [LF-159]
  if (shared_ != nullptr && shared_->peer() != nullptr &&
      (rx_cq_ == nullptr || !rx_cq_->is_imported())) {
    UET_WARN(
        EP_CTRL,
        "fi_enable: receives of another provider (FI_PEER) need a completion queue of it, too: "
        "bind one that fi_cq_open imported\n");
    return -FI_EINVAL;
  }
  return 0;
}

std::span<const JobId> Bindings::fix_jobs() {
  jobs_ = av_->keys().jobs();
  return jobs_;
}

void Bindings::hold_keys() { held_keys_ = av_->keys().hold(); }

void Bindings::report_lost(const LostSend& lost) const {
  if (eq_ != nullptr) {
    report_lost_send(lost, eq_owner_, eq_);
  } else {
    report_lost_send(lost, &domain_.fid()->fid, domain_.eq());
  }
}

}  // namespace uet::prov
