// Goodput over a link that loses packets at random: one stream of RDMA writes between two engines
// and a simulated network, in simulated time. Nothing depends on the machine: same seed, same
// figure. For uet_perf and the test of the goals.
#pragma once

#include "fep/config.h"

#include <cstdint>

namespace uet::perf {

struct LossPlan {
  double loss = 0;  // of each packet, in both directions
  uint64_t seed = 1;
  uint64_t rate_bps = 100'000'000'000;               // of either end's link
  Duration round_trip = Duration::microseconds(20);  // without queues
  // Rate of the slow link as a share of the target's link; packets that find no room there are
  // lost. 0: no slow link.
  uint32_t queue_bytes = 0;
  // Mean time between the work of an end, which runs at random times and sleeps for 3 ms now and
  // then, as hosts in software do. Zero: an end works at once.
  Duration host_delay;
  Duration warm_up = Duration::milliseconds(5);  // not measured
  Duration measured = Duration::milliseconds(20);
};

struct LossFigure {
  double goodput_gbps = 0;  // payload of completed messages
  uint64_t packets = 0;     // requests sent, resends included
  uint64_t resends = 0;
  uint64_t timeouts = 0;  // of these, without a better sign
  uint64_t lost = 0;      // by the network, either way
};

// Packets of 4 KiB payload; `config` says everything else, pds.tx_window_packets above all.
LossFigure goodput(fep::Config config, const LossPlan& plan);

}  // namespace uet::perf
