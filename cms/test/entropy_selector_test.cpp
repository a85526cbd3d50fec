// Oblivious spraying: every EV equally often, whatever is heard.
#include "cms/entropy_selector.h"

#include <gtest/gtest.h>

#include <map>

namespace uet::cms {
namespace {

// [WIRE-007]
TEST(EntropySelectorTest, UsesEveryValueEquallyOften) {
  Config config;
  config.entropy_values = 16;
  Rng rng(7);
  EntropySelector selector(config, rng);
  std::map<uint16_t, int> uses;
  for (int i = 0; i < 160; ++i) {
    const Entropy ev = selector.next();
    selector.on_feedback(ev, PathFeedback::timeout);
    ++uses[ev.value()];
  }
  ASSERT_EQ(uses.size(), 16u);
  for (const auto& [ev, n] : uses) {
    EXPECT_LT(ev, 16);
    EXPECT_EQ(n, 10) << ev;
  }
}

TEST(EntropySelectorTest, TwoPeersStartAtDifferentPlaces) {
  Config config;
  config.entropy_values = 65536;
  Rng rng(7);
  EntropySelector a(config, rng), b(config, rng);
  EXPECT_NE(a.next(), b.next());
}

TEST(EntropySelectorTest, OneValueMeansOnePath) {
  Config config;
  config.entropy_values = 1;
  Rng rng(7);
  EntropySelector selector(config, rng);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(selector.next(), Entropy(0));
}

}  // namespace
}  // namespace uet::cms
