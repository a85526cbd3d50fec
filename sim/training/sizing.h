// How much work a training is, and how many GPUs do it in a given time.
#pragma once

#include "sim/training/training.h"

namespace uet::sim {

// Work for each parameter and token: 2 forward, 4 backward, and 2 more where the forward pass is
// computed again in full. Parameters are those that a token passes through.
double work_factor(Recompute recompute);
double estimated_flop(const Model& model, double tokens, Recompute recompute);

// The number of GPUs of `tflops` TFLOPS, of which the share `utilisation` is used. Not rounded.
double gpus_for(double flop, double tflops, double utilisation, double seconds);
double seconds_for(double flop, double tflops, double utilisation, double gpus);

}  // namespace uet::sim
