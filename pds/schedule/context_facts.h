// Facts and counters of a context beside its congestion window: plain records.
#pragma once

#include "pds/schedule/ack_marks.h"

#include "base/time.h"

#include <cstdint>

namespace uet::pds {

// Measurement of a context's base RTT.
struct BaseRttNews {
  bool is_known = false;  // a round trip was measured [CMS-107]
  bool is_asked = false;  // a Probe for it was sent, or was not needed [CMS-106]
  uint32_t since_ms = 0;  // when the known base RTT was measured; wraps
  // Since when nothing is to be sent or in flight: after a while the context restarts. zero: it has
  // sent nothing; never(): it is in use. [CMS-008]
  Instant idle_since;
};

// Octets of a context, as its peer has them.
struct ContextLimits {
  uint32_t packet_bytes_max = 0;     // nominal, of the largest packet that its peer takes
  uint32_t room_bytes = UINT32_MAX;  // in flight at most; see Peer::room()
};

// Counts of a context, for tools only.
struct ContextTally {
  AckMarks marks;
  uint32_t last_rtt_ns = 0;  // 0: no sample yet; at most 4 s
  uint32_t strange_evs = 0;  // answers with an EV that the context does not send
  uint8_t echoes = 0;        // answers in a row that echo their packet's EV; see is_strange()
};

}  // namespace uet::pds
