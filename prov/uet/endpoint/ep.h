// Endpoint (FI_EP_RDM, FI_EP_DGRAM): what libfabric sees of an EndpointCore, with the operation
// flags and the posting calls. An alias shares the core with its origin. [LF-001, LF-041..060]
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/api/shim.h"
#include "prov/uet/endpoint/ep_core.h"

#include <sys/types.h>
#include <cstdint>

namespace uet::prov {

class Domain;

class Endpoint {
 public:
  using Link = FidLink<struct fid_ep, Endpoint>;

  // The domain's endpoint and endpoint2 operations in one shape.
  static int open(Domain& domain, struct fi_info* info, uint64_t flags, struct fid_ep** ep,
                  void* context);
  static struct fi_ops* fid_ops();

  EndpointCore& core() { return core_; }
  ssize_t receive(const MessageCall& call) { return core_.rx().receive(call); }
  // Flags of a call without a flags argument.
  uint64_t tx_flags() const { return tx_flags_; }
  uint64_t rx_flags() const { return rx_flags_; }
  // Those of a tagged receive. FI_MULTI_RECV as a default is for receives without a tag.
  uint64_t tagged_rx_flags() const { return rx_flags_ & ~FI_MULTI_RECV; }
  // Flags of the inject calls, by the manual. Delivery levels stay as configured.
  uint64_t inject_flags() const {
    return (tx_flags_ & ~(FI_COMPLETION | FI_INJECT_COMPLETE)) | FI_INJECT | kNoCompletion;
  }
  // The flags in errors of injected operations. [fi_endpoint, NOTES]
  void* context() const { return link_.fid.fid.context; }
  // The same for reads, which cannot be injected.
  uint64_t read_flags() const { return tx_flags_ & ~(FI_INJECT | FI_INJECT_COMPLETE); }

  int control(int command, void* arg);
  int close();

 private:
  Endpoint(EndpointCore& core, uint64_t tx_flags, uint64_t rx_flags, void* context);
  int alias(struct fi_alias& request);
  int get_flags(uint64_t& flags) const;
  int set_flags(uint64_t flags);

  Link link_;
  EndpointCore& core_;
  uint64_t tx_flags_;
  uint64_t rx_flags_;
};

}  // namespace uet::prov
