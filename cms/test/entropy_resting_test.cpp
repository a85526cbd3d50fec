// Which EVs rest after which feedback, and for how long.
#include "cms/entropy/resting.h"
#include "cms/test/entropy_config.h"

#include <gtest/gtest.h>

namespace uet::cms {
namespace {

constexpr auto kAny = [](uint32_t) { return true; };

class RestingEntropyTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kValues = 16;

  void hear(uint32_t index, PathFeedback feedback) { resting_.on_feedback(index, feedback, now_); }
  void elapse(Duration time) {
    now_ = now_ + time;
    resting_.on_time(now_);
  }
  void restart(AfterLoss after_loss) {
    config_.entropy.after_loss = after_loss;
    resting_ = RestingEntropy(config_, kValues);
  }

  Config config_ = entropy_config(Spraying::bitmap, kValues);
  RestingEntropy resting_{config_, kValues};
  Instant now_ = kEntropyStart;
};

// [CMS-159] 1 for a mark, 4 for a trim, 15 for a time-out, 15 at most.
TEST_F(RestingEntropyTest, PenaltiesAddUpToAMaximum) {
  EXPECT_EQ(resting_.penalty(3), 0u);
  hear(3, PathFeedback::good);
  EXPECT_EQ(resting_.penalty(3), 0u);
  hear(3, PathFeedback::ecn);
  EXPECT_EQ(resting_.penalty(3), 1u);
  hear(3, PathFeedback::trimmed);
  EXPECT_EQ(resting_.penalty(3), 5u);
  hear(3, PathFeedback::good);
  EXPECT_EQ(resting_.penalty(3), 5u);
  hear(3, PathFeedback::timeout);
  EXPECT_EQ(resting_.penalty(3), 15u);
  hear(5, PathFeedback::timeout);
  EXPECT_EQ(resting_.penalty(5), 15u);
  EXPECT_EQ(resting_.penalty(2), 0u);
  EXPECT_EQ(resting_.penalty(4), 0u) << "its half of the octet";
  EXPECT_EQ(resting_.penalised(), 2u);
}

// [CMS-159] The penalty falls by one when the walk passes over the EV.
TEST_F(RestingEntropyTest, AnEvIsPassedOverAsOftenAsItsPenaltySays) {
  hear(3, PathFeedback::trimmed);
  elapse(Duration::milliseconds(1));
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(resting_.rests(3)) << i;
    resting_.pass(3);
  }
  EXPECT_FALSE(resting_.rests(3));
  EXPECT_EQ(resting_.penalised(), 0u);
  resting_.pass(3);
  EXPECT_EQ(resting_.penalty(3), 0u);
}

// [CMS-154] A marked EV rests for at least a round trip, however often it was skipped, and at any
// phase of the counted round trips.
TEST_F(RestingEntropyTest, AMarkedEvRestsAtLeastARoundTrip) {
  for (int64_t began = 0; began < 24; ++began) {
    restart(AfterLoss::rest);
    now_ = kEntropyStart;
    hear(9, PathFeedback::ecn);  // rounds begin here
    elapse(Duration::microseconds(began));
    hear(3, PathFeedback::ecn);
    const Instant marked = now_;
    while (resting_.rests(3) && now_ < marked + Duration::milliseconds(1)) {
      EXPECT_TRUE(now_ - marked >= Duration::microseconds(12) || resting_.is_marked(3));
      elapse(Duration::microseconds(1));
      resting_.pass(3);
    }
    EXPECT_GE(now_ - marked, Duration::microseconds(12)) << began;
    EXPECT_LE(now_ - marked, Duration::microseconds(25)) << began;
    EXPECT_FALSE(resting_.is_marked(3));
  }
}

// [CMS-154] The round trip is measured from ACKs, not configured.
TEST_F(RestingEntropyTest, TheRestFollowsTheRoundTrip) {
  for (int i = 0; i < 100; ++i) resting_.on_rtt(Duration::microseconds(500));
  hear(3, PathFeedback::ecn);
  elapse(Duration::microseconds(450));
  resting_.pass(3);
  EXPECT_TRUE(resting_.rests(3));
  elapse(Duration::microseconds(600));
  elapse(Duration::microseconds(600));
  resting_.pass(3);
  EXPECT_FALSE(resting_.rests(3));
}

// [CMS-154] With 8 of 16 marked they rest, with 9 nothing rests any more.
TEST_F(RestingEntropyTest, NothingRestsWhileMostAreMarked) {
  for (uint32_t i = 0; i < 8; ++i) hear(i, PathFeedback::ecn);
  EXPECT_TRUE(resting_.rests(0));
  EXPECT_TRUE(resting_.is_marked(0));
  hear(8, PathFeedback::ecn);
  for (uint32_t i = 0; i < kValues; ++i) {
    EXPECT_FALSE(resting_.rests(i));
    EXPECT_FALSE(resting_.is_marked(i));
  }
  elapse(Duration::milliseconds(1));
  resting_.pass(8);  // it was used, and its mark is old
  EXPECT_TRUE(resting_.rests(0));
}

// [CMS-155] Where routes change by themselves a lost packet's EV rests for long, and comes again.
TEST_F(RestingEntropyTest, ALostPacketMakesItsEvRestLonger) {
  hear(3, PathFeedback::timeout);
  elapse(Duration::milliseconds(1));
  for (int i = 0; i < 15; ++i) {
    EXPECT_TRUE(resting_.rests(3)) << i;
    resting_.pass(3);
  }
  EXPECT_FALSE(resting_.rests(3));
  EXPECT_EQ(resting_.excluded(), 0u);
}

// [CMS-155] With static routes the EV is excluded until a probe succeeds.
TEST_F(RestingEntropyTest, AnExcludedEvRestsUntilItsProbeIsGood) {
  restart(AfterLoss::exclude);
  hear(3, PathFeedback::timeout);
  EXPECT_EQ(resting_.excluded(), 1u);
  EXPECT_FALSE(resting_.take_probe(now_, kAny));
  for (int i = 0; i < 100; ++i) {
    elapse(Duration::microseconds(99));
    resting_.pass(3);
    EXPECT_TRUE(resting_.rests(3));
    EXPECT_FALSE(resting_.take_probe(now_, kAny)) << i;
  }
  elapse(Duration::microseconds(100));  // 10 ms since the loss
  EXPECT_EQ(resting_.take_probe(now_, kAny), 3u);
  EXPECT_FALSE(resting_.take_probe(now_, kAny)) << "one packet, not a stream";
  EXPECT_TRUE(resting_.rests(3));
  hear(3, PathFeedback::ecn);
  EXPECT_TRUE(resting_.rests(3)) << "it arrived, but a congested path is no better";
  hear(3, PathFeedback::good);
  EXPECT_FALSE(resting_.rests(3));
  EXPECT_EQ(resting_.excluded(), 0u);
}

// [CMS-155, CMS-159] Marks alone exclude no EV, however many.
TEST_F(RestingEntropyTest, MarksExcludeNothing) {
  restart(AfterLoss::exclude);
  for (int i = 0; i < 100; ++i) hear(3, PathFeedback::trimmed);
  EXPECT_EQ(resting_.excluded(), 0u);
  EXPECT_EQ(resting_.penalty(3), 14u);
  hear(3, PathFeedback::timeout);
  EXPECT_EQ(resting_.excluded(), 1u);
  EXPECT_EQ(resting_.penalised(), 0u);
}

// [CMS-155] Probes take the excluded EVs in turn.
TEST_F(RestingEntropyTest, ProbesTryOneExcludedEvAfterAnother) {
  restart(AfterLoss::exclude);
  for (uint32_t i : {2u, 5u, 11u}) hear(i, PathFeedback::timeout);
  for (uint32_t expected : {2u, 5u, 11u, 2u}) {
    elapse(Duration::milliseconds(10));
    EXPECT_EQ(resting_.take_probe(now_, kAny), expected);
  }
  elapse(Duration::milliseconds(10));
  EXPECT_EQ(resting_.take_probe(now_, [](uint32_t i) { return i == 11; }), 11u);
  EXPECT_FALSE(resting_.take_probe(now_ + Duration::seconds(1), [](uint32_t) { return false; }));
}

// [CMS-155] When every EV has lost packets it is not the paths.
TEST_F(RestingEntropyTest, WithAllExcludedNoneRests) {
  restart(AfterLoss::exclude);
  for (uint32_t i = 0; i < kValues; ++i) {
    EXPECT_FALSE(resting_.rests(i));
    hear(i, PathFeedback::timeout);
  }
  EXPECT_EQ(resting_.excluded(), kValues);
  for (uint32_t i = 0; i < kValues; ++i) EXPECT_FALSE(resting_.rests(i));
}

// [CMS-155] If the network sprays each packet a loss is no evidence about the EV.
TEST_F(RestingEntropyTest, LossesMayBeIgnored) {
  restart(AfterLoss::nothing);
  hear(3, PathFeedback::timeout);
  EXPECT_FALSE(resting_.rests(3));
  EXPECT_EQ(resting_.penalty(3), 0u);
  hear(3, PathFeedback::ecn);
  EXPECT_EQ(resting_.penalty(3), 1u);
}

}  // namespace
}  // namespace uet::cms
