// The one EV of a context whose packets stay in order.
#include "cms/entropy/single_path.h"
#include "cms/test/entropy_config.h"

#include <gtest/gtest.h>

#include <set>

namespace uet::cms {
namespace {

class SinglePathTest : public ::testing::Test {
 protected:
  static constexpr Duration kRtt = Duration::microseconds(40);

  bool congest(bool last_hop = false) { return path_.on_congestion(now_, kRtt, last_hop); }

  Config config_ = entropy_config(Spraying::mixed, 64);
  Rng rng_{5};
  SinglePath path_{config_, rng_};
  Instant now_ = kEntropyStart;
};

// [CMS-150] One EV until something happens, another while nothing is in flight.
TEST_F(SinglePathTest, TheEvChangesWhileIdle) {
  for (int i = 0; i < 200; ++i) {
    const Entropy ev = path_.ev();
    EXPECT_EQ(path_.ev(), ev);
    path_.on_idle();
    EXPECT_NE(path_.ev(), ev);
  }
}

// [CMS-150] Under congestion at most once in 10 round trips.
TEST_F(SinglePathTest, CongestionMovesItOnceInTenRoundTrips) {
  const Entropy first = path_.ev();
  EXPECT_TRUE(congest());
  const Entropy second = path_.ev();
  EXPECT_NE(second, first);
  for (int i = 0; i < 400; ++i) {  // 399 us
    EXPECT_FALSE(congest());
    EXPECT_EQ(path_.ev(), second);
    if (i < 399) now_ = now_ + Duration::microseconds(1);
  }
  now_ = now_ + Duration::microseconds(1);
  EXPECT_TRUE(congest());
  EXPECT_NE(path_.ev(), second);
}

// [CMS-150] Another path has the same last hop.
TEST_F(SinglePathTest, CongestionOfTheLastHopMovesNothing) {
  const Entropy ev = path_.ev();
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(congest(true));
    now_ = now_ + Duration::milliseconds(1);
  }
  EXPECT_EQ(path_.ev(), ev);
  EXPECT_TRUE(congest(false)) << "and does not count as a change";
}

// [CMS-150] Fewer than 10 round trips are not allowed, and an unknown one is the configured.
TEST_F(SinglePathTest, TheIntervalHasALeast) {
  config_.entropy.reroute_rtts = 1;
  SinglePath path(config_, rng_);
  EXPECT_TRUE(path.on_congestion(now_, Duration::zero(), false));
  EXPECT_FALSE(path.on_congestion(now_ + Duration::nanoseconds(119'999), kRtt, false));
  EXPECT_TRUE(path.on_congestion(now_ + Duration::microseconds(120), kRtt, false));
}

// [CMS-150] Contexts begin at different EVs, all of their EVs in turn.
TEST_F(SinglePathTest, ContextsTakeDifferentEvs) {
  std::set<uint16_t> values;
  for (int i = 0; i < 64; ++i) values.insert(SinglePath(config_, rng_).ev().value());
  EXPECT_GE(values.size(), 32u);  // 41 on average
}

TEST_F(SinglePathTest, OneValueNeverChanges) {
  config_.entropy_values = 1;
  SinglePath path(config_, rng_);
  path.on_idle();
  EXPECT_EQ(path.ev(), Entropy(0));
  EXPECT_FALSE(path.on_congestion(now_, kRtt, false));
}

}  // namespace
}  // namespace uet::cms
