// A small training run with round numbers, for tests that count by hand: 8 ranks, two in each node.
#pragma once

#include "sim/training/training.h"

namespace uet::sim {

// Activations of a micro-batch: 2 bytes * 500 tokens * 1,000 = 1 MB. Parameters of a rank: 8e6 / 4.
// Forward work of a whole model for a micro-batch: 2 * 8e6 * 500 = 8 GFLOP, 16 ms at 0.5 TFLOPS.
inline Training tiny() {
  Training t;
  t.model.parameters = 8e6;
  t.model.layers = 4;
  t.model.hidden = 1000;
  t.model.sequence = 500;
  t.parallelism.dp = 2;
  t.parallelism.tp = 2;
  t.parallelism.pp = 2;
  t.parallelism.micro_batches = 3;
  t.cluster.gpus_per_node = 2;
  t.cluster.gpu_tflops = 1;
  return t;
}

}  // namespace uet::sim
