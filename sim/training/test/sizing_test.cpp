// Sizes of clusters, by hand.
#include "sim/training/sizing.h"

#include <gtest/gtest.h>

namespace uet::sim {
namespace {

// 624e12 * 0.3 * 604,800 s = 1.13219e20 FLOP for each GPU in a week.
TEST(SizingTest, GpusForAWeekOfWork) {
  constexpr double kWeek = 7 * 24 * 3600;
  EXPECT_NEAR(gpus_for(430e21, 624, 0.3, kWeek), 3'798.0, 0.1);
  EXPECT_NEAR(gpus_for(600e21, 624, 0.3, kWeek), 5'299.5, 0.1);
  EXPECT_NEAR(seconds_for(430e21, 624, 0.3, 3'798), kWeek, 10);
}

// 175e9 parameters and 300e9 tokens: 6 * 175e9 * 300e9 = 3.15e23, 8 with full
// recomputation: 4.2e23.
TEST(SizingTest, WorkIsEstimatedFromParametersAndTokens) {
  const Model model{.parameters = 175e9};
  EXPECT_DOUBLE_EQ(estimated_flop(model, 300e9, Recompute::selective), 3.15e23);
  EXPECT_DOUBLE_EQ(estimated_flop(model, 300e9, Recompute::none), 3.15e23);
  EXPECT_DOUBLE_EQ(estimated_flop(model, 300e9, Recompute::full), 4.2e23);
}

}  // namespace
}  // namespace uet::sim
