// The EV of a context whose packets stay in order.
#include "cms/entropy/single_path.h"
#include "cms/context_entropy.h"
#include "cms/test/entropy_config.h"

#include <gtest/gtest.h>

#include <set>

namespace uet::cms {
namespace {

using enum PathFeedback;

class SinglePathTest : public ::testing::Test {
 protected:
  // 40 us are the round trip of the configuration, so that 10 of them are 400 us.
  static Config config() {
    Config c = entropy_config(Spraying::mixed, 64);
    c.base_rtt = Duration::microseconds(40);
    return c;
  }
  // Whether that feedback of the present EV changes it.
  bool changes(PathFeedback feedback) {
    const Entropy ev = path_.ev();
    EXPECT_TRUE(path_.on_feedback(ev, feedback, now_));
    return path_.ev() != ev;
  }
  bool changes_while_idle() {
    const Entropy ev = path_.ev();
    path_.on_idle();
    return path_.ev() != ev;
  }
  void elapse(Duration time) { now_ = now_ + time; }

  Config config_ = config();
  Rng rng_{5};
  SinglePath path_{config_, 0, rng_};
  Instant now_ = kEntropyStart;
};

// [CMS-150] Congestion changes the entropy value at once, and then not again for 10 round trips.
TEST_F(SinglePathTest, CongestionChangesTheEntropyValueOnceInTenRoundTrips) {
  for (const PathFeedback feedback : {ecn, trimmed, timeout}) {
    EXPECT_TRUE(changes(feedback));
    for (int i = 0; i < 399; ++i) {
      EXPECT_FALSE(changes(feedback));
      elapse(Duration::microseconds(1));
    }
    EXPECT_FALSE(changes(feedback)) << "399 us";
    elapse(Duration::microseconds(1));
  }
  EXPECT_FALSE(changes(good));
}

// [CMS-150] It changes while idle if it was bad, once for each time that it was.
TEST_F(SinglePathTest, TheEvChangesWhileIdle) {
  EXPECT_FALSE(changes_while_idle()) << "there is no reason";
  EXPECT_TRUE(changes(ecn));
  EXPECT_FALSE(changes_while_idle()) << "the new one is not known to be bad";
  EXPECT_FALSE(changes(ecn)) << "too soon";
  EXPECT_TRUE(changes_while_idle());
  EXPECT_FALSE(changes_while_idle());
  EXPECT_FALSE(changes(trimmed)) << "too soon all the same: that counts from the last one in "
                                    "the midst of packets";
  elapse(Duration::microseconds(400));
  EXPECT_TRUE(changes(trimmed));
}

// [CMS-150] Another path has the same last hop: marks after a trim there say nothing for 10 round
// trips. A trim before the last hop does, and a loss.
TEST_F(SinglePathTest, CongestionOfTheLastHopMovesNothing) {
  for (int i = 0; i < 100; ++i) {
    path_.on_last_hop(now_);
    EXPECT_FALSE(changes(ecn));
    EXPECT_FALSE(changes_while_idle());
    elapse(Duration::microseconds(399));
  }
  EXPECT_FALSE(changes(ecn));
  EXPECT_TRUE(changes(trimmed));
  elapse(Duration::microseconds(400));
  path_.on_last_hop(now_);
  EXPECT_TRUE(changes(timeout));
  elapse(Duration::microseconds(400));
  EXPECT_TRUE(changes(ecn)) << "the last trim there is long ago";
}

// [CMS-150, CMS-144] With receiver credit the last hop does not mark.
TEST_F(SinglePathTest, MarksAreOfTheCoreWhereCreditIsInUse) {
  config_.algorithm = Algorithm::both;
  SinglePath path(config_, 0, rng_);
  path.on_last_hop(now_);
  const Entropy ev = path.ev();
  EXPECT_TRUE(path.on_feedback(ev, ecn, now_));
  EXPECT_NE(path.ev(), ev);
}

// [CMS-150] Feedback about an earlier EV does not change the present one.
TEST_F(SinglePathTest, LateNewsMoveNothing) {
  const Entropy old = path_.ev();
  EXPECT_TRUE(changes(ecn));
  elapse(Duration::milliseconds(1));
  const Entropy ev = path_.ev();
  EXPECT_TRUE(path_.on_feedback(old, timeout, now_));
  EXPECT_EQ(path_.ev(), ev);
  EXPECT_FALSE(changes_while_idle());
}

// [CMS-149] An EV that the context does not send changes nothing: 64 values from a multiple of 64.
TEST_F(SinglePathTest, StrangeEvsAreRefused) {
  const Entropy ev = path_.ev();
  const Entropy strange(static_cast<uint16_t>(ev.value() ^ 64));
  EXPECT_FALSE(path_.has(strange));
  EXPECT_FALSE(path_.on_feedback(strange, timeout, now_));
  EXPECT_EQ(path_.ev(), ev);
  EXPECT_FALSE(changes_while_idle());
}

// [CMS-150] The interval follows the round trip: of 40 us and then many of 80 us.
TEST_F(SinglePathTest, TheIntervalIsOfMeasuredRoundTrips) {
  for (int i = 0; i < 200; ++i) path_.on_rtt(Duration::microseconds(80));
  path_.on_rtt(Duration::zero());
  EXPECT_NEAR(static_cast<double>(path_.smoothed_rtt().ns()), 80'000, 10);
  EXPECT_TRUE(changes(ecn));
  elapse(Duration::microseconds(799));
  EXPECT_FALSE(changes(ecn));
  elapse(Duration::microseconds(1));
  EXPECT_TRUE(changes(ecn));
}

// [CMS-150] Fewer than 10 round trips are not allowed, and one shorter than the configured counts
// as that.
TEST_F(SinglePathTest, TheIntervalHasALeast) {
  config_.entropy.reroute_rtts = 1;
  SinglePath path(config_, 0, rng_);
  for (int i = 0; i < 200; ++i) path.on_rtt(Duration::microseconds(1));
  const auto changes = [&](Instant at) {
    const Entropy ev = path.ev();
    EXPECT_TRUE(path.on_feedback(ev, ecn, at));
    return path.ev() != ev;
  };
  EXPECT_TRUE(changes(now_));
  EXPECT_FALSE(changes(now_ + Duration::nanoseconds(399'999)));
  EXPECT_TRUE(changes(now_ + Duration::microseconds(400)));
}

// [CMS-004] Of 64 EVs in a run, 64 contexts with successive numbers have each a different one,
// however the run is drawn; and they keep it as long as nothing is wrong.
TEST_F(SinglePathTest, ContextsTakeDifferentEvs) {
  std::set<uint16_t> values;
  for (uint32_t number = 200; number < 264; ++number) {
    SinglePath path(config_, number, rng_);
    for (int i = 0; i < 10; ++i) path.on_idle();
    values.insert(path.ev().value() % 64);
  }
  EXPECT_EQ(values.size(), 64u);
}

TEST_F(SinglePathTest, OneValueNeverChanges) {
  config_.entropy_values = 1;
  SinglePath path(config_, 7, rng_);
  EXPECT_TRUE(path.on_feedback(Entropy(0), timeout, now_));
  path.on_idle();
  EXPECT_EQ(path.ev(), Entropy(0));
}

// [CMS-003, CMS-150, CMS-151] A context with a number has one EV at a time; one without sprays.
TEST(ContextEntropyTest, HasOneEvOrMany) {
  const Config config = entropy_config(Spraying::mixed, 16);
  Rng rng(5);
  ContextEntropy ordered(config, 3, rng);
  ContextEntropy sprayed(config, std::nullopt, rng);
  EXPECT_EQ(ordered.selector(), nullptr);
  EXPECT_NE(sprayed.selector(), nullptr);
  std::set<uint16_t> one, many;
  for (int i = 0; i < 16; ++i) {
    one.insert(ordered.next(kEntropyStart).value());
    many.insert(sprayed.next(kEntropyStart).value());
  }
  EXPECT_EQ(one, (std::set<uint16_t>{3}));
  EXPECT_EQ(many.size(), 16u);
}

}  // namespace
}  // namespace uet::cms
