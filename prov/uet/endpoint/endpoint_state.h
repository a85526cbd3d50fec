// The common state of the parts of an endpoint. EndpointCore alone writes it.
#pragma once

#include "prov/uet/address/av.h"
#include "prov/uet/completion/cq.h"
#include "prov/uet/endpoint/attributes.h"
#include "prov/uet/endpoint/bindings.h"
#include "prov/uet/progress/progress.h"

#include "ses/types.h"

#include <sys/types.h>
#include <cstdint>

namespace uet::prov {

// The contents of OpContext::user of a post: flags above, an index (AV entry or group) below.
enum UserBits : uint64_t {
  kReport = 1ULL << 32,      // success makes a CQ entry
  kUnreported = 1ULL << 33,  // the application believes it done already
  kGrouped = 1ULL << 34,     // the index names a group
  kMulti = 1ULL << 35,       // FI_MULTI_RECV
  kOwned = 1ULL << 36,       // the context is a fi_peer_rx_entry of another provider
  kIndexMask = 0xFFFF'FFFF,
};

struct EndpointState {
  EndpointState(Domain& of, const struct fi_info& info);

  // Whether a call that needs this capability may post now. 0 or -FI_E*.
  ssize_t check_post(uint64_t capability) const;
  CompletionError error_of(const ses::Completion& completion) const;
  // Where it runs. Fixed once enabled, or once its address was asked for.
  ProgressEngine& engine() const { return *at->progress; }
  // The entries of its address vector. Enabled, engine lock held.
  AvTable& addresses() const { return bound.av()->table(*at); }

  Domain& domain;
  DomainEngine* at;  // one of the domain
  const EndpointAttributes as;
  Bindings bound;
  ses::EndpointId id;    // once enabled
  bool enabled = false;  // and not shut down since
  bool closing = false;  // what ends now is not reported
};

// FI_* flags of a completion.
uint64_t completion_flags(ses::OpKind kind);

}  // namespace uet::prov
