// The parts of the sublayer that the modes without PDCs work with, and how much of a turn is
// theirs. Borrowed from Core. [PDS 16, 17]
#pragma once

#include "pds/client.h"
#include "pds/config.h"
#include "pds/counters.h"
#include "pds/peer_table.h"

#include <cstdint>

namespace uet::pds {

struct Surroundings {
  const Config& config;
  PeerTable& peers;
  Client& client;
  Counters& counters;
};

// Packets that one call of transmit takes from each of these modes, so that neither they nor the
// PDCs starve.
inline constexpr uint32_t kPacketsPerTurn = 16;

}  // namespace uet::pds
