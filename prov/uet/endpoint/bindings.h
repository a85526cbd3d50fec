// The objects that an endpoint is bound to, with a reference on each: queues, counters, address
// vector, event queue, shared receives. Bound before the endpoint is enabled, released when it is
// closed. [LF-001, LF-093, LF-097, fi_endpoint, fi_ep_bind]
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/completion/cntr.h"
#include "prov/uet/endpoint/attributes.h"
#include "prov/uet/endpoint/engine_choice.h"
#include "prov/uet/endpoint/lost_send.h"
#include "prov/uet/progress/progress.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace uet::prov {

class AddressVector;
class CompletionQueue;
class Domain;
class EventQueue;
class SharedReceives;

class Bindings {
 public:
  enum CounterSlot : uint32_t {
    kSendCounter,
    kRecvCounter,
    kReadCounter,
    kWriteCounter,
    kRemoteReadCounter,
    kRemoteWriteCounter,
    kCounterSlots
  };

  Bindings(Domain& domain, const EndpointAttributes& as)
      : domain_(domain), as_(as), choice_(domain.engines()) {}
  Bindings(const Bindings&) = delete;
  Bindings& operator=(const Bindings&) = delete;

  // fi_ep_bind of the fid `endpoint`. 0 or -FI_E*.
  int bind(const struct fid& endpoint, struct fid* fid, uint64_t flags);
  // Whether all is there that fi_enable needs. 0 or -FI_E*.
  int check_complete() const;
  // With FI_AV_AUTH_KEY: the present jobs of the address vector; later ones are not included.
  // Empty: it has none. The list lives as long as this. Engine lock held. [LF-019]
  std::span<const JobId> fix_jobs();
  // The keys of those jobs stay in the address vector until release(). Engine lock held.
  void hold_keys();
  // The engine of the endpoint, chosen by its bindings; the same one when called again. Null after
  // a warning: the bound objects belong to different engines. [LF-145]
  DomainEngine* choose_engine();
  // Events in the name of `from` come in the name of `to` from here on. Engine lock held.
  void rename_event_owner(const struct fid& from, const struct fid& to);
  // Gives all references back. No lock held; call once.
  void release();

  AddressVector* av() const { return av_; }
  // Its shared receives, or null if it has its own.
  SharedReceives* shared() const { return shared_; }
  // Null where nothing is to be reported.
  CompletionQueue* tx_cq() const { return tx_cq_; }
  CompletionQueue* rx_cq() const { return rx_cq_; }
  // FI_SELECTIVE_COMPLETION.
  bool tx_selective() const { return tx_selective_; }
  bool rx_selective() const { return rx_selective_; }

  // Counts an operation that ended, where a counter is bound. Engine lock held.
  void count(CounterSlot slot, bool ok) const {
    if (counters_[slot] != nullptr) counters_[slot]->count(ok);
  }
  // A counter shows when a message or a write ends.
  bool counts_transmits() const {
    return counters_[kSendCounter] != nullptr || counters_[kWriteCounter] != nullptr;
  }
  // A counter shows when a peer has written or read.
  bool counts_remote() const {
    return counters_[kRemoteReadCounter] != nullptr || counters_[kRemoteWriteCounter] != nullptr;
  }
  // To the endpoint's event queue, else to the domain's. [LF-137]
  void report_lost(const LostSend& lost) const;

 private:
  int bind_cq(CompletionQueue& cq, uint64_t flags);
  int bind_counter(Counter& counter, uint64_t flags);
  int bind_av(AddressVector& av);
  int bind_shared(SharedReceives& shared);
  int bind_eq(const struct fid& endpoint, EventQueue& eq);
  std::vector<WaitObject*> wait_objects() const;

  Domain& domain_;
  const EndpointAttributes& as_;
  AddressVector* av_ = nullptr;
  SharedReceives* shared_ = nullptr;
  CompletionQueue* tx_cq_ = nullptr;
  CompletionQueue* rx_cq_ = nullptr;
  bool tx_selective_ = false;
  bool rx_selective_ = false;
  std::array<Counter*, kCounterSlots> counters_{};
  EngineChoice choice_;
  EventQueue* eq_ = nullptr;
  const struct fid* eq_owner_ = nullptr;  // the fid in its events: the endpoint or an alias
  std::vector<JobId> jobs_;
  std::vector<fi_addr_t> held_keys_;  // the same as keys
};

}  // namespace uet::prov
