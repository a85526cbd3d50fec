// What a NACK code means: a table with a row for each code. [PDS 10.2]
#pragma once

#include "pds/client.h"
#include "pds/counters.h"
#include "pds/pdc/pdc_state.h"

#include "wire/code_points.h"

#include <cstdint>

namespace uet::pds {

enum class NackReaction : uint8_t {
  ignore,        // unknown or reserved: counted only [PDS-071]
  resend_now,    // a loss: as soon as CMS allows
  resend_later,  // no room there: after NACK_Retx_Time, more each time [PDS-118]
  hold_window,   // beyond what the peer tracks: as resend_later, and assume mpr 1 until an ACK
  send_clear,    // no room for responses: clear at once, then as resend_later
  go_back_n,     // ROD gap [PDS-078]
  rebase,        // the target begins elsewhere [PDS-051]
  wait,          // SES still works on it: time runs anew [PDS 10.2, 0x18]
  fail_message,  // EXP ERR
  fail_pdc,
};

// What a source does about a packet that was refused with that code.
NackReaction reaction_to(wire::NackCode code);

// A fatal code whose packet was certainly not executed. [PDS-119]
bool is_certainly_not_executed(wire::NackCode code);

// The code reports that the peer waits for its application, which may take any time. [PDS-148]
bool waits_for_application(wire::NackCode code);

// Whether a peer can refuse a packet with that code; `state` and `mode` are those of the PDC that
// sent it. [T-08]
bool is_possible(wire::NackCode code, PdcState state, Mode mode);

// The peer may still hold a PDC that a Close command would free. [PDS-I18]
bool peer_may_hold_state(wire::NackCode code);

// The counters of NACKs sent and received with that code.
Count nack_tx_count(wire::NackCode code);
Count nack_rx_count(wire::NackCode code);

}  // namespace uet::pds
