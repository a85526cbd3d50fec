// Shared receive context: receives that several endpoints of one domain and one address vector use.
// It has no queue or counter: the endpoint that gets the message reports it. It and its endpoints
// belong to the first engine of the domain. With FI_PEER the receives belong to another provider,
// and none is posted here. [LF-133, LF-159, fi_endpoint, SHARED CONTEXTS]
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/api/shim.h"
#include "prov/uet/endpoint/calls.h"
#include "prov/uet/endpoint/min_multi_receive.h"
#include "prov/uet/peer/peer_receives.h"
#include "prov/uet/progress/progress.h"

#include "ses/receives/receive_queue.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace uet::prov {

class AddressVector;
class Domain;
class EndpointCore;

class SharedReceives {
 public:
  using Link = FidLink<struct fid_ep, SharedReceives>;

  // The domain's srx_ctx operation. `attr` may be null: the domain's capabilities.
  static int open(Domain& domain, struct fi_rx_attr* attr, struct fid_ep** ep, void* context);
  static struct fi_ops* fid_ops();

  Domain& domain() { return domain_; }
  ses::ReceiveQueueId id() const { return id_; }

  // For endpoints that are bound to it:
  void add_ref() { ++refs_; }
  void drop_ref() { --refs_; }
  // With that address vector; false: another endpoint has another one.
  bool join(AddressVector& av);
  void leave(AddressVector& av);
  // Enabled; engine lock held.
  void add(EndpointCore& endpoint) {
    endpoints_.push_back(&endpoint);
    if (peer_) peer_->set_endpoints(endpoints_);
  }
  void remove(EndpointCore& endpoint) {
    std::erase(endpoints_, &endpoint);
    if (peer_) peer_->set_endpoints(endpoints_);
  }
  // The other provider's receives, or null.
  PeerReceives* peer() { return peer_.get(); }

  // Posts. `call.flags` is complete. 0 or -FI_E*; with -FI_EAGAIN nothing was changed.
  ssize_t receive(const MessageCall& call);
  ssize_t cancel(void* op_context);
  ssize_t rx_size_left();
  // Flags of a call without a flags argument.
  uint64_t rx_flags() const { return flags_; }
  // Those of a tagged receive. FI_MULTI_RECV as a default is for receives without a tag.
  uint64_t tagged_rx_flags() const { return flags_ & ~FI_MULTI_RECV; }

  int get_option(int level, int name, void* value, size_t* length);
  int set_option(int level, int name, const void* value, size_t length);
  // CQs and counters belong to the endpoints. [fi_endpoint, SHARED CONTEXTS]
  static int refuse_bind();
  // FI_ENABLE has no effect: a context is enabled from the beginning.
  static int control(int command) { return command == FI_ENABLE ? 0 : -FI_ENOSYS; }
  // -FI_EBUSY while endpoints are bound.
  int close();

 private:
  SharedReceives(Domain& domain, const struct fi_rx_attr& attr, void* context);
  Result<ses::ReceiveQueueId> open_queue(ProgressEngine::Entry& entry);
  ssize_t check_post(bool tagged) const;
  ssize_t post(ProgressEngine::Entry& entry, const MessageCall& call,
               const ses::ReceiveRequest& request);
  ssize_t look(ProgressEngine::Entry& entry, const MessageCall& call,
               const ses::ReceiveRequest& request);
  EndpointCore* endpoint(ses::EndpointId id);

  Link link_;
  Domain& domain_;
  ProgressEngine& engine_;
  ses::ReceiveQueueId id_;
  uint64_t caps_;
  uint64_t flags_;
  uint32_t size_;
  MinMultiReceive min_multi_;
  std::vector<EndpointCore*> endpoints_;  // enabled; the oldest first
  AddressVector* av_ = nullptr;           // of all of them
  uint32_t av_users_ = 0;
  std::atomic<uint32_t> refs_{0};
  std::unique_ptr<PeerReceives> peer_;
};

}  // namespace uet::prov
