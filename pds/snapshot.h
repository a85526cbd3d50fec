// A PDC as a person wants to see it who asks why nothing moves. Copied, so that it can be looked at
// while the FEP goes on. For tools only: nothing here decides anything.
#pragma once

#include "pds/client.h"
#include "pds/pdc/pdc_state.h"

#include "base/packet.h"
#include "base/serial.h"
#include "base/time.h"

#include <cstdint>

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
  uint64_t window_bytes = 0;  // of the path, which other PDCs share
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
  Duration waiting;                        // something has been outstanding for so long
  Duration refused;                        // answers, but none that lets anything pass; zero: no
  Duration timer = Duration::seconds(-1);  // until it fires; negative: not armed
};

}  // namespace uet::pds
