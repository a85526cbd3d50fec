// REPS: EVs that were good are used again; a time-out freezes its memory.
#include "cms/entropy_selector.h"
#include "cms/test/entropy_config.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace uet::cms {
namespace {

using Values = std::vector<uint32_t>;

class RepsTest : public ::testing::Test {
 protected:
  void hear(uint32_t ev, PathFeedback feedback) {
    ASSERT_TRUE(selector_.on_feedback(Entropy(static_cast<uint16_t>(ev)), feedback, now_));
  }
  void hear_good(const Values& values) {
    for (uint32_t ev : values) hear(ev, PathFeedback::good);
  }
  Values next(int count) {
    Values drawn;
    for (int i = 0; i < count; ++i) drawn.push_back(selector_.next(now_).value());
    return drawn;
  }
  static size_t different(const Values& values) {
    return std::set<uint32_t>(values.begin(), values.end()).size();
  }

  Config config_ = entropy_config(Spraying::reps, 256);
  Rng rng_{5};
  EntropySelector selector_{config_, rng_};
  Instant now_ = kEntropyStart;
};

// [CMS-160] Random until something is known; of 200 draws of 256 about 139 differ.
TEST_F(RepsTest, WithoutAGoodEvARandomOneIsTaken) {
  const Values drawn = next(200);
  EXPECT_GT(different(drawn), 120u);
  EXPECT_LT(different(drawn), 160u) << "random, not in turn";
}

// [CMS-160]
TEST_F(RepsTest, TheOldestFreshEvIsTakenAndOnlyOnce) {
  hear_good({10, 20, 30});
  EXPECT_EQ(next(2), (Values{10, 20}));
  hear_good({40});
  EXPECT_EQ(next(2), (Values{30, 40}));
  EXPECT_GT(different(next(20)), 15u);
}

// [CMS-160] 8 places: the oldest are overwritten.
TEST_F(RepsTest, TheRingRemembersEight) {
  hear_good({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  EXPECT_EQ(next(8), (Values{3, 4, 5, 6, 7, 8, 9, 10}));
}

// [CMS-160] A mark, a trim or a time-out makes nothing fresh.
TEST_F(RepsTest, OnlyAGoodAckMakesAnEvFresh) {
  hear(10, PathFeedback::ecn);
  hear(11, PathFeedback::trimmed);
  hear_good({12});
  EXPECT_EQ(next(1), (Values{12}));
  const Values drawn = next(8);
  EXPECT_GT(different(drawn), 6u);
}

// [CMS-154, CMS-160] Marked since it was good: it rests.
TEST_F(RepsTest, AMarkedFreshEvIsNotUsed) {
  hear_good({10, 20});
  hear(10, PathFeedback::ecn);
  EXPECT_EQ(next(1), (Values{20}));
}

// The ACKs of one burst say one thing.
TEST_F(RepsTest, ABurstMakesItsEvFreshOnce) {
  hear_good({10, 10, 10, 10, 20, 20});
  EXPECT_EQ(next(2), (Values{10, 20}));
  EXPECT_GT(different(next(8)), 6u);
}

// [CMS-161] Frozen: round and round, fresh or not; the EV that timed out is not among them.
TEST_F(RepsTest, ATimeOutFreezesTheRing) {
  hear_good({1, 2, 3, 4});
  EXPECT_EQ(next(4), (Values{1, 2, 3, 4}));
  hear(2, PathFeedback::timeout);
  EXPECT_TRUE(selector_.is_frozen());
  EXPECT_EQ(next(7), (Values{1, 3, 4, 1, 3, 4, 1}));
  hear_good({50});  // takes the place behind
  const Values drawn = next(4);
  EXPECT_EQ(std::set<uint32_t>(drawn.begin(), drawn.end()), (std::set<uint32_t>{1, 3, 4, 50}));
}

// [CMS-161] After t_freeze: 16 random ones, whatever was good, then REPS as before.
TEST_F(RepsTest, AfterFreezingItExplores) {
  hear_good({1, 2, 3, 4});
  hear(200, PathFeedback::timeout);
  now_ = now_ + Duration::microseconds(9999);
  EXPECT_TRUE(selector_.is_frozen());
  EXPECT_EQ(next(4), (Values{1, 2, 3, 4}));
  hear_good({60});
  now_ = now_ + Duration::microseconds(1);
  Values explored = next(1);
  EXPECT_FALSE(selector_.is_frozen());
  hear_good({70});
  const Values more = next(15);
  explored.insert(explored.end(), more.begin(), more.end());
  EXPECT_GT(different(explored), 12u) << "the ring was forgotten";
  EXPECT_EQ(next(1), (Values{70}));
}

// [CMS-161] Losses while exploring, or while frozen, do not freeze again.
TEST_F(RepsTest, ExploringIsNotCutShort) {
  hear_good({1});
  hear(200, PathFeedback::timeout);
  now_ = now_ + Duration::milliseconds(5);
  hear(201, PathFeedback::timeout);
  now_ = now_ + Duration::milliseconds(5);
  next(1);
  ASSERT_FALSE(selector_.is_frozen());
  hear(202, PathFeedback::timeout);
  EXPECT_FALSE(selector_.is_frozen());
  next(15);
  hear(203, PathFeedback::timeout);
  EXPECT_TRUE(selector_.is_frozen());
}

// [CMS-155] Where the network sprays by itself, a loss is no reason to freeze.
TEST(RepsSprayedTest, LossesMayBeIgnored) {
  Config config = entropy_config(Spraying::reps, 256);
  config.entropy.after_loss = AfterLoss::nothing;
  Rng rng(5);
  EntropySelector selector(config, rng);
  EXPECT_TRUE(selector.on_feedback(Entropy(9), PathFeedback::timeout, kEntropyStart));
  EXPECT_FALSE(selector.is_frozen());
}

}  // namespace
}  // namespace uet::cms
