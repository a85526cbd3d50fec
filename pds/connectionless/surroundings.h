// The parts of the sublayer that the modes without PDCs work with, and how much of a turn is
// theirs. Borrowed from Parts. [PDS 16, 17]
#pragma once

#include "pds/client.h"
#include "pds/config.h"
#include "pds/counters.h"
#include "pds/pdc/peer_table.h"

#include <cstdint>

namespace uet::pds {

struct Surroundings {
  const Config& config;
  PeerTable& peers;
  Client& client;
  Counters& counters;

  // A request of that peer, which no PSN window and no congestion control holds back: each source
  // has a rate of its own, so that a flood of one costs the others nothing. [T-41]
  bool may_look_at(PeerId peer, Instant now) const {
    const uint32_t rate = config.source_packets_per_second;
    if (rate == 0 || peers[peer].connectionless.take(rate, now)) return true;
    counters.add(Count::drop_source_rate);
    return false;
  }
};

// Packets that one call of transmit takes from each of these modes, so that neither they nor the
// PDCs starve.
inline constexpr uint32_t kPacketsPerTurn = 16;

}  // namespace uet::pds
