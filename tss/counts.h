// Counters of secured packets, and the reasons to refuse one: each refusal has its counter.
// Counters of the port are for packets without a domain. [TSS-095..104]
#pragma once

#include "base/counters.h"

#include <cstdint>

namespace uet::tss {

#define UET_TSS_COUNTS(X)                                                                        \
  X(in_auth_pkts)                                                                                \
  X(out_auth_pkts)                                                                               \
  X(in_auth_fail_pkts)                                                                           \
  X(in_invalid)                                                                                  \
  X(in_invalid_sa) X(in_late_pkts) X(in_binding_failure_pkts) X(out_invoke_fail)                 \
      X(in_errored_pkts) X(out_errored_pkts) X(in_rx_encryption_bypass_pkts)                     \
          X(out_rx_encryption_bypass_pkts) X(in_replay) X(in_pdc_binding_fail) X(in_trim_unauth) \
              X(key_derive) X(key_derive_throttled)

enum class Count : uint8_t {
#define X(name) name,
  UET_TSS_COUNTS(X)
#undef X
  count_
};
const char* name(Count c);

using Counts = CounterSet<Count>;

// Why a packet is not sealed or not opened.
enum class Refusal : uint8_t {
  // Opening, in the order of the checks [TSS-083..091].
  malformed,          // too short for header and ICV, or not a secured packet
  unknown_domain,     // no domain has this SDI; also when sealing
  no_key,             // the domain is off, or has no key for this AN
  latched,            // too many forged packets, and the domain is set to stop then
  wrong_source_form,  // with an SSI where the domain uses none, or the reverse; IPv6 without one
  wrong_direction,    // the counter is of the half of this side [TSS-044]
  not_a_member,       // the domain has a list of sources without this one
  late,               // epoch too old
  throttled,          // its key would have to be derived, and too many were in this second
  forged,             // the ICV is wrong: changed on the way, or sealed with another key
  replayed,           // seen before, or too old for the window
  // Sealing.
  no_tx_key,     // no key to transmit with
  no_counter,    // no counter is granted, or the key is used up
  wrong_client,  // mode server with SSI needs the SSI of the client, and only that
  too_long,      // does not fit the room for the sealed packet, or UDP
  cipher,        // the cipher library failed
  count_
};
const char* name(Refusal r);
Count counter_of(Refusal r);

}  // namespace uet::tss
