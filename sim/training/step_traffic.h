// One training step as Traffic: the computation of each rank, and its sends over the fabric.
#pragma once

#include "sim/traffic/traffic.h"
#include "sim/training/training.h"

namespace uet::sim {

// Host r of the traffic is the NIC of rank r; so NIC h is on rail h % gpus_per_node. Stages run one
// forward and one backward pass in turn (1F1B). Traffic within a node uses its links, as pauses. In
// each pass the collectives of all layers of a stage are one, of as many bytes: the model ignores
// the latency of all but one. Kinds of flows: compute, tp, ep, fsdp, pp, dp. The training has no
// problem(). Throws TrafficError where it has more than 2^27 tasks.
Traffic traffic_of_step(const Training& training);

}  // namespace uet::sim
