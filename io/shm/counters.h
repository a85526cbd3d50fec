// Counters and reports of shared memory. [docs/counters.md]
#pragma once

#include "base/packet.h"

#include <cstdint>

namespace uet::io {

// Takes the address behind a ring that was dropped because the other process wrote invalid values;
// is_ours: the ring leads to that process.
using ShmBrokenSink = void (*)(const FabricAddress& peer, bool is_ours);

struct ShmCounters {
  uint64_t tx_packets = 0;
  uint64_t tx_later = 0;     // the ring was full and its reader reads enough
  uint64_t tx_overflow = 0;  // to the socket: the ring was full and its reader reads too little
  uint64_t tx_bells = 0;     // readers that were woken
  uint64_t rx_packets = 0;
  uint64_t rings_out = 0;     // agreed on so far, to others
  uint64_t rings_in = 0;      // from others
  uint64_t rings_broken = 0;  // dropped because their content made no sense
  uint64_t refused = 0;       // processes that may not share memory with this one
  ShmBrokenSink broken_sink = nullptr;

  void on_broken(const FabricAddress& peer, bool is_ours) {
    ++rings_broken;
    if (broken_sink != nullptr) broken_sink(peer, is_ours);
  }
};

}  // namespace uet::io
