// Two whole endpoints over a network in memory, driven by the input as a program of calls, steps of
// the clock, and what the network and a forger do to packets. After every step the oracles of
// fuzz/stack/ledger.h and node.h hold; when the program is over and nobody interferes any more,
// every operation ends and every table is given back. [architecture 8]
#pragma once

#include "fuzz/stack/carrier.h"
#include "fuzz/stack/program.h"

#include <cstdint>

namespace uet::fuzz {

// `how`: bit 0: nobody speaks for the honest ends, so contents are checked; bit 1: targets choose
// the first PSN of a PDC; bit 2: endpoints share their receives. The program is what follows.
void run(uint8_t how, Program program, Carrier& carrier);

}  // namespace uet::fuzz
