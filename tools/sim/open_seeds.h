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
    {466, "RUD, one stored response per PDC, refused and spoilt requests: not finished"},
    {512, "RUD, two stored responses in all, spoilt requests: not finished"},
    {524, "RUD, 13 PDCs, refused requests: a receive expires"},
    {729, "ROD, restart: INV_DPDCID ends an operation"},
    {892, "RUD, Default_MPR above the peer's, odd packets, one way: not finished"},
    {993, "ROD, 19 % loss, blackhole: a receive expires"},
    {1058, "ROD, MPR 128, refused requests: not finished"},
    {1156, "ROD, 10 % loss: too many steps"},
    {1241, "ROD, five stored responses per PDC: not finished"},
    {1375, "RUD, four PDCs, stranger: an operation times out"},
};

inline bool is_open(uint64_t seed) {
  for (const OpenSeed& open : kOpenSeeds) {
    if (open.seed == seed) return true;
  }
  return false;
}

}  // namespace uet::sim
