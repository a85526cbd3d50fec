// Two whole endpoints over a network in memory, driven by the input as a program of calls, steps of
// the clock, and actions of the network and a forger on packets. After every step the oracles of
// fuzz/stack/ledger.h and node.h hold; after the program, without more interference, every
// operation ends and every table is freed. [architecture 8]
#pragma once

#include "fuzz/stack/carrier.h"
#include "fuzz/stack/program.h"

#include <cstdint>

namespace uet::fuzz {

// `how`: bit 0: no forged identities, so contents are checked; bit 1: targets choose the first PSN
// of a PDC; bit 2: endpoints share their receives. The program is the rest.
void run(uint8_t how, Program program, Carrier& carrier);

}  // namespace uet::fuzz
