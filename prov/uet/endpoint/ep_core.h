// The common part of an endpoint and its aliases: its name, its bindings, and the two halves that
// send and receive. [LF-041..060, LF-093..099]
#pragma once

#include "prov/uet/endpoint/endpoint_state.h"
#include "prov/uet/endpoint/receptions.h"
#include "prov/uet/endpoint/transmissions.h"

#include "ses/types.h"

#include <sys/types.h>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace uet::prov {

class AddressVector;
class Domain;

// The error of a domain that has as many endpoints as ep_cnt allows; logs what to do. [LF-158]
int no_endpoint_left();

// Owns the name and the state that the two halves read.
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

  // The endpoint and its aliases, any thread. leave(): true when `fid` was the last one. Later
  // events in the name of one that leaves are reported in another one's name.
  void join(const struct fid& fid);
  bool leave(const struct fid& fid);

 private:
  int choose_engine();
  int permit_shared_memory(const void* value, size_t length) const;

  EndpointState state_;
  Transmissions tx_;
  Receptions rx_;
  ses::EndpointName name_;
  std::mutex fids_lock_;
  std::vector<const struct fid*> fids_;
};

}  // namespace uet::prov
