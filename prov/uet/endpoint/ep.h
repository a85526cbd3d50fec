// Endpoint (FI_EP_RDM, FI_EP_DGRAM): a UET endpoint name, what is bound to it, and the posting
// calls. An alias shares everything with its origin but the operation flags. [LF-001, LF-041..060,
// LF-093..099]
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/api/shim.h"
#include "prov/uet/endpoint/endpoint_state.h"
#include "prov/uet/endpoint/receptions.h"
#include "prov/uet/endpoint/transmissions.h"

#include "ses/types.h"

#include <sys/types.h>
#include <cstddef>
#include <cstdint>

namespace uet::prov {

class AddressVector;
class Domain;

// What a domain answers when it has as many endpoints as ep_cnt says; logs what to do. [LF-158]
int no_endpoint_left();

// What an endpoint shares with its aliases: everything but the operation flags. Owns the name and
// the state that the two halves read: what is sent, and what is received.
class EndpointCore {
 public:
  // Takes the name. The name's claim belongs to this object from here on.
  EndpointCore(Domain& domain, const struct fi_info& info, const ses::EndpointName& name);
  ~EndpointCore();
  EndpointCore(const EndpointCore&) = delete;
  EndpointCore& operator=(const EndpointCore&) = delete;

  // fi_ep_bind, called for the fid `endpoint`.
  int bind(const struct fid& endpoint, struct fid* fid, uint64_t flags);
  int enable();
  // Ends everything in flight without completions; afterwards no buffer is touched. [PDS-182]
  void shut_down();
  int get_option(int level, int name, void* value, size_t* length);
  int set_option(int level, int name, const void* value, size_t length);
  int get_name(void* address, size_t* length);
  int set_name(const void* address, size_t length);
  ssize_t rx_size_left();
  ssize_t tx_size_left();
  // A receive or an operation, the oldest of that context.
  ssize_t cancel(void* op_context);

  Transmissions& tx() { return tx_; }
  Receptions& rx() { return rx_; }

  Domain& domain() { return state_.domain; }
  // Set once enabled; for MR bindings (FI_MR_ENDPOINT).
  ses::EndpointId id() const { return state_.id; }
  const ses::EndpointName& name() const { return name_; }
  const AddressVector* av() const { return state_.bound.av(); }

  uint32_t users = 1;  // the endpoint and its aliases

 private:
  EndpointState state_;
  Transmissions tx_;
  Receptions rx_;
  ses::EndpointName name_;
};

class Endpoint {
 public:
  using Link = FidLink<struct fid_ep, Endpoint>;

  // The domain's endpoint operation.
  static int open(Domain& domain, struct fi_info* info, struct fid_ep** ep, void* context);
  static struct fi_ops* fid_ops();

  EndpointCore& core() { return core_; }
  ssize_t receive(const MessageCall& call) { return core_.rx().receive(call); }
  // Flags of a call without a flags argument.
  uint64_t tx_flags() const { return tx_flags_; }
  uint64_t rx_flags() const { return rx_flags_; }
  // Of the inject calls: what the manual says they mean. Delivery levels stay as configured.
  uint64_t inject_flags() const {
    return (tx_flags_ & ~(FI_COMPLETION | FI_INJECT_COMPLETE)) | FI_INJECT | kNoCompletion;
  }
  // Of reads, which cannot be injected.
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

// The operation tables.
extern struct fi_ops_msg message_ops;    // msg.cpp
extern struct fi_ops_tagged tagged_ops;  // tagged.cpp
extern struct fi_ops_rma rma_ops;        // rma.cpp
extern struct fi_ops_atomic atomic_ops;  // atomic.cpp

}  // namespace uet::prov
