// Copies of a PDC and of a context for tools: why nothing moves, how fast the context may send. The
// FEP runs while tools read them. No decision depends on them.
#pragma once

#include "pds/client.h"
#include "pds/pdc/pdc_state.h"

#include "cms/config.h"

#include "base/packet.h"
#include "base/serial.h"
#include "base/time.h"

#include <cstdint>
#include <optional>

namespace uet::pds {

struct PdcSnapshot {
  Pdcid id;
  Pdcid peer_id;  // 0: not learnt
  FabricAddress peer;
  PdcState state{};
  Mode mode{};
  TrafficClass tc;
  bool is_initiator = false;
  bool close_asked = false;
  bool has_message = false;  // that we send, being cut into packets

  // Sending: [tx_base, tx_next) is outstanding.
  Psn tx_base;
  Psn tx_next;
  uint32_t lost = 0;  // to be sent again
  uint16_t mp_range = 0;
  uint64_t window_bytes = 0;  // of the context, which several PDCs may share
  uint64_t inflight_bytes = 0;
  // The packet at tx_base, when something is outstanding.
  Duration oldest_age;  // since it was last sent
  uint32_t oldest_resends = 0;
  uint32_t oldest_nacks = 0;

  // Receiving.
  Psn rx_cack;  // everything up to here has arrived
  Psn rx_max;
  uint32_t out_of_order = 0;
  uint32_t stored = 0;    // answers kept until they are cleared
  uint32_t verdicts = 0;  // requests that await their answer from above

  Duration round_trip;                     // smoothed; zero: not known
  Duration silent;                         // since the last packet either way
  Duration waiting;                        // how long something has been outstanding
  Duration refused;                        // answers, but none that lets anything pass; zero: no
  Duration timer = Duration::seconds(-1);  // until it fires; negative: not armed
};

// A congestion context.
struct ContextSnapshot {
  FabricAddress peer;
  TrafficClass tc;
  bool is_sprayed = true;
  uint8_t lane = 0;  // of a context that is not sprayed
  cms::Algorithm algorithm{};

  uint64_t window_bytes = 0;  // 0: no window, only credit limits
  uint64_t inflight_bytes = 0;
  uint64_t backlog_bytes = 0;  // announced and not sent; 0 where the algorithm does not ask
  uint64_t resend_bytes = 0;   // lost, to be sent again
  bool is_held_back = false;   // PDCs wait for the window, for credit or for pacing
  std::optional<int64_t> credit_bytes;  // granted and not used; nothing: no credit in use

  Duration rtt;                      // mean of about the last eight samples; zero: no sample
  Duration last_rtt;                 // the last sample
  Duration base_rtt;                 // zero: not known
  uint32_t acks = 0;                 // since the context exists; wraps
  uint32_t marked = 0;               // of `acks`
  uint32_t recent_ecn_permille = 0;  // of the last 32 ACKs

  uint32_t strange_evs = 0;   // answers with an entropy value that the context does not send
  uint32_t evs = 0;           // entropy values of the context
  uint32_t evs_resting = 0;   // that have a penalty
  uint32_t evs_excluded = 0;  // that are not used until a probe of them is acknowledged
};

// Contexts are copied some at a time.
struct ContextPage {
  uint32_t count = 0;            // of all contexts
  uint32_t listed = 0;           // that were copied
  std::optional<uint32_t> next;  // where the next page begins; nothing: this was the last one
};

}  // namespace uet::pds
