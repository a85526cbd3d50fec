// Seeds whose runs end in a violation that is not resolved yet, so that the suite still tells when
// another one breaks. An entry goes as soon as its cause is fixed; `uet_sim --seed N --verbose`
// replays it. The list holds for the plans as they are drawn now.
#pragma once

#include <cstdint>

namespace uet::sim {

struct OpenSeed {
  uint64_t seed;
  const char* what;
};

inline constexpr OpenSeed kOpenSeeds[] = {
    {1437, "restart: INV_DPDCID ends an operation posted after the peer is back"},
};

inline bool is_open(uint64_t seed) {
  for (const OpenSeed& open : kOpenSeeds) {
    if (open.seed == seed) return true;
  }
  return false;
}

}  // namespace uet::sim
