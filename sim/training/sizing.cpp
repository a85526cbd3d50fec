// Work over speed.
#include "sim/training/sizing.h"

namespace uet::sim {

double work_factor(Recompute recompute) { return recompute == Recompute::full ? 8 : 6; }

double estimated_flop(const Model& model, double tokens, Recompute recompute) {
  return work_factor(recompute) * model.active_parameters() * tokens;
}

double gpus_for(double flop, double tflops, double utilisation, double seconds) {
  return flop / (tflops * 1e12 * utilisation * seconds);
}

double seconds_for(double flop, double tflops, double utilisation, double gpus) {
  return flop / (tflops * 1e12 * utilisation * gpus);
}

}  // namespace uet::sim
