// The ways to choose an EV: the choices of the selector after feedback.
#include "cms/entropy_selector.h"
#include "cms/test/entropy_config.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace uet::cms {
namespace {

using Values = std::vector<uint32_t>;
constexpr Spraying kSprayings[] = {Spraying::oblivious, Spraying::bitmap, Spraying::reps,
                                   Spraying::mixed};

// One selector, and the time.
struct Context {
  explicit Context(Config config, uint64_t seed = 5) : rng(seed), selector(config, rng) {}

  void hear(uint32_t ev, PathFeedback feedback) {
    ASSERT_TRUE(selector.on_feedback(Entropy(static_cast<uint16_t>(ev)), feedback, now));
  }
  Values next(int count, uint32_t planes = EntropySelector::kAllPlanes) {
    Values drawn;
    for (int i = 0; i < count; ++i) drawn.push_back(selector.next(now, planes).value());
    return drawn;
  }
  static size_t uses_of(uint32_t ev, const Values& drawn) {
    return static_cast<size_t>(std::count(drawn.begin(), drawn.end(), ev));
  }
  void elapse(Duration time) { now = now + time; }

  Rng rng;
  EntropySelector selector;
  Instant now = kEntropyStart;
};

// --- all of them ---

// [CMS-151, CMS-152] Oblivious spraying uses all EVs equally often, with any feedback; the other
// modes skip the marked one.
TEST(EntropySelectorTest, OnlyObliviousSprayingIgnoresFeedback) {
  for (const Spraying spraying : kSprayings) {
    Context c(entropy_config(spraying, 16));
    size_t uses = 0;
    for (int i = 0; i < 160; ++i) {
      c.hear(3, PathFeedback::timeout);
      uses += Context::uses_of(3, c.next(1));
    }
    if (spraying == Spraying::oblivious) {
      EXPECT_EQ(uses, 10u);
    } else {
      EXPECT_LE(uses, 2u) << static_cast<int>(spraying);
    }
  }
}

// [CMS-151] Without feedback each of them sprays over all EVs.
TEST(EntropySelectorTest, AllEvsAreUsed) {
  for (const Spraying spraying : kSprayings) {
    Context c(entropy_config(spraying, 64));
    const Values drawn = c.next(64 * 50);
    for (uint32_t ev = 0; ev < 64; ++ev) {
      const size_t uses = Context::uses_of(ev, drawn);
      if (spraying == Spraying::reps) {  // random: 50, standard deviation 7
        EXPECT_GT(uses, 15u);
        EXPECT_LT(uses, 85u);
      } else {
        EXPECT_EQ(uses, 50u) << static_cast<int>(spraying);
      }
    }
  }
}

TEST(EntropySelectorTest, TheSeedRepeatsTheChoices) {
  for (const Spraying spraying : kSprayings) {
    Config config = entropy_config(spraying, 64);
    config.entropy.random_upper_bits = true;
    Context a(config), b(config), other(config, 6);
    Rng feedback(1);
    size_t differences = 0;
    for (int i = 0; i < 2000; ++i) {
      const Entropy ev = a.selector.next(a.now);
      ASSERT_EQ(ev, b.selector.next(b.now));
      differences += ev != other.selector.next(other.now) ? 1 : 0;
      const auto heard = static_cast<PathFeedback>(feedback.below(4));
      EXPECT_TRUE(a.selector.on_feedback(ev, heard, a.now));
      EXPECT_TRUE(b.selector.on_feedback(ev, heard, b.now));
      a.elapse(Duration::microseconds(1));
      b.elapse(Duration::microseconds(1));
    }
    EXPECT_GT(differences, 1500u);
  }
}

TEST(EntropySelectorTest, OneValueMeansOnePath) {
  for (const Spraying spraying : kSprayings) {
    Context c(entropy_config(spraying, 1));
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(c.selector.next(c.now), Entropy(0));
      c.hear(0, PathFeedback::timeout);
    }
  }
}

// [CMS-157] What follows feedback has a state for 256 EVs at most.
TEST(EntropySelectorTest, ManyValuesAreTrackedInPart) {
  for (const Spraying spraying : kSprayings) {
    Context c(entropy_config(spraying, 65536));
    EXPECT_EQ(c.selector.size(), spraying == Spraying::oblivious ? 65536u : 256u);
    const Values drawn = c.next(20000);
    const std::set<uint32_t> different(drawn.begin(), drawn.end());
    EXPECT_EQ(different.size(), spraying == Spraying::oblivious ? 20000u : 256u);
  }
}

// [CMS-149] Feedback about one EV affects only that one.
TEST(EntropySelectorTest, FeedbackIsForItsOwnEv) {
  Config config = entropy_config(Spraying::bitmap, 16);
  config.entropy.random_upper_bits = true;
  Context c(config);
  for (int trial = 0; trial < 16; ++trial) {
    const uint32_t marked = c.next(1)[0];
    c.hear(marked, PathFeedback::ecn);
    const Values drawn = c.next(150);
    EXPECT_EQ(Context::uses_of(marked, drawn), 0u);
    EXPECT_EQ(std::set<uint32_t>(drawn.begin(), drawn.end()).size(), 15u);
    c.elapse(Duration::milliseconds(1));
    c.next(64);
  }
}

// [CMS-149] Hostile: EVs that this context does not send change nothing and are reported.
TEST(EntropySelectorTest, FeedbackForAStrangeEvChangesNothing) {
  for (const Spraying spraying : kSprayings) {
    Config config = entropy_config(spraying, 16);
    config.entropy.random_upper_bits = true;
    config.entropy.after_loss = AfterLoss::exclude;
    Context c(config), untouched(config);
    Rng rng(9);
    const uint32_t first = c.next(1)[0] / 16 * 16;
    untouched.next(1);
    for (int i = 0; i < 3000; ++i) {
      const auto ev = static_cast<uint16_t>(rng.u32());
      if (ev - first >= 16u) {
        const auto heard = static_cast<PathFeedback>(rng.below(4));
        EXPECT_FALSE(c.selector.on_feedback(Entropy(ev), heard, c.now));
      }
      ASSERT_EQ(c.next(1), untouched.next(1)) << static_cast<int>(spraying);
    }
    EXPECT_EQ(c.selector.penalised() + c.selector.excluded(), 0u);
    EXPECT_FALSE(c.selector.is_frozen());
  }
}

// [CMS-154, CMS-155] Hostile: whatever is heard, an EV of the context comes out, in bounded time,
// and when it ends all are used again.
TEST(EntropySelectorTest, NoFeedbackStopsTheSelector) {
  for (const Spraying spraying : kSprayings) {
    for (const auto after_loss : {AfterLoss::rest, AfterLoss::exclude, AfterLoss::nothing}) {
      Config config = entropy_config(spraying, 12);
      config.entropy.after_loss = after_loss;
      config.entropy.planes = 3;
      Context c(config);
      Rng rng(17);
      for (int i = 0; i < 20000; ++i) {
        const auto plane = static_cast<uint32_t>(rng.below(3));
        ASSERT_EQ(c.next(1, 1u << plane)[0] % 3, plane);
        const auto ev = static_cast<uint32_t>(rng.below(12));
        c.hear(ev, static_cast<PathFeedback>(i < 10000 ? 1 + rng.below(3) : rng.below(4)));
        c.elapse(Duration::nanoseconds(static_cast<int64_t>(rng.below(5000))));
      }
      std::set<uint32_t> used;
      for (int i = 0; i < 5000; ++i) {
        const uint32_t ev = c.next(1)[0];
        used.insert(ev);
        c.hear(ev, PathFeedback::good);
        c.elapse(Duration::microseconds(20));
      }
      if (spraying == Spraying::bitmap || spraying == Spraying::oblivious) {
        EXPECT_EQ(used.size(), 12u);
      }
      EXPECT_GE(used.size(), 1u);
    }
  }
}

// --- planes ---

// [CMS-156] The EV belongs to a free port, in each mode and with memory of other planes.
TEST(EntropySelectorTest, TheEvBelongsToAFreePlane) {
  for (const Spraying spraying : kSprayings) {
    Config config = entropy_config(spraying, 64);
    config.entropy.random_upper_bits = true;
    config.entropy.planes = 4;
    Context c(config);
    Rng rng(3);
    std::map<uint32_t, int> uses;
    for (int i = 0; i < 4000; ++i) {
      const auto free = static_cast<uint32_t>(1 + rng.below(15));
      const Entropy ev = c.selector.next(c.now, free);
      const uint32_t plane = c.selector.plane_of(ev);
      ASSERT_NE(free >> plane & 1, 0u);
      ++uses[plane];
      if (i % 3 != 0) c.hear(ev.value(), PathFeedback::good);
      c.elapse(Duration::microseconds(1));
    }
    ASSERT_EQ(uses.size(), 4u);
    for (const auto& [plane, n] : uses) EXPECT_GT(n, 700) << plane;
  }
}

// [CMS-156, CMS-162] A good EV of a busy plane is kept for later.
TEST(EntropySelectorTest, GoodEvsOfABusyPlaneWait) {
  Config config = entropy_config(Spraying::mixed, 16);
  config.entropy.planes = 2;
  Context c(config);
  for (uint32_t ev : {4u, 5u, 6u}) c.hear(ev, PathFeedback::good);
  EXPECT_EQ(c.next(1, 2), (Values{5}));
  EXPECT_EQ(c.next(2, 1), (Values{6, 4})) << "4 was passed over";
}

// --- bitmap ---

// [CMS-159] Of several EVs in a row that are passed over, only the first comes nearer to its use.
TEST(EntropyBitmapTest, OnlyTheFirstSkippedValueLosesAPenalty) {
  Context c(entropy_config(Spraying::bitmap, 16));
  const Values order = c.next(16);
  const uint32_t x = order[0];
  // Before the next round its order is not known; all but one EV of two halves rest.
  for (uint32_t i = 0; i < 8; ++i) c.hear(i ^ x, PathFeedback::trimmed);
  c.elapse(Duration::milliseconds(1));
  uint32_t before = c.selector.penalised();
  ASSERT_EQ(before, 8u);
  // Each call decrements one penalty at most: 8 x 4 of them take 32 calls at least.
  for (int call = 1; call <= 400 && c.selector.penalised() != 0; ++call) {
    c.next(1);
    EXPECT_TRUE(call >= 32 || c.selector.penalised() > 0) << call;
    EXPECT_GE(c.selector.penalised() + 1, before) << "one at a time";
    before = c.selector.penalised();
  }
  EXPECT_EQ(c.selector.penalised(), 0u);
}

// [CMS-154, CMS-159] A marked EV rests a round trip however many packets go out; then it is passed
// over once, and used.
TEST(EntropyBitmapTest, AMarkedEvRestsARoundTrip) {
  Context c(entropy_config(Spraying::bitmap, 16));
  c.next(5);
  c.hear(7, PathFeedback::ecn);
  for (int i = 0; i < 120; ++i) {
    EXPECT_EQ(Context::uses_of(7, c.next(10)), 0u);
    c.elapse(Duration::nanoseconds(100));  // 12 us in all
  }
  c.elapse(Duration::microseconds(24));
  EXPECT_GE(Context::uses_of(7, c.next(48)), 1u);
}

// [CMS-154] If more than half of the EVs are marked, all are used; if half, the other half.
TEST(EntropyBitmapTest, WhenMostAreMarkedNothingIsPassedOver) {
  Context c(entropy_config(Spraying::bitmap, 16));
  for (uint32_t ev = 0; ev < 8; ++ev) c.hear(ev, PathFeedback::ecn);
  for (uint32_t ev : c.next(160)) EXPECT_GE(ev, 8u);
  c.hear(8, PathFeedback::ecn);
  const Values drawn = c.next(160);
  EXPECT_EQ(std::set<uint32_t>(drawn.begin(), drawn.end()).size(), 16u);
}

// [CMS-155] Excluded: no packet but a probe each 10 ms, until one is good.
TEST(EntropyBitmapTest, AnExcludedEvIsProbed) {
  Config config = entropy_config(Spraying::bitmap, 16);
  config.entropy.after_loss = AfterLoss::exclude;
  Context c(config);
  c.hear(7, PathFeedback::timeout);
  size_t uses = 0;
  for (int i = 0; i < 1000; ++i) {
    c.elapse(Duration::microseconds(100));
    uses += Context::uses_of(7, c.next(10));
  }
  EXPECT_EQ(uses, 10u) << "in 100 ms";
  c.hear(7, PathFeedback::good);
  EXPECT_GE(Context::uses_of(7, c.next(32)), 1u);
}

// --- mixed ---

// [CMS-162] Good EVs first, the oldest first, each once; then by the bitmap.
TEST(EntropyMixedTest, GoodEvsAreUsedFirst) {
  Context c(entropy_config(Spraying::mixed, 16));
  for (uint32_t ev : {9u, 3u, 12u}) c.hear(ev, PathFeedback::good);
  c.hear(5, PathFeedback::trimmed);
  EXPECT_EQ(c.next(3), (Values{9, 3, 12}));
  const Values more = c.next(45);
  EXPECT_EQ(std::set<uint32_t>(more.begin(), more.end()).size(), 15u);
  EXPECT_EQ(Context::uses_of(5, more), 0u);
}

// [CMS-164] It is the default of a context.
TEST(EntropyMixedTest, MixedIsTheDefault) {
  Config config;
  config.entropy.random_upper_bits = false;
  Context c(config);
  for (uint32_t ev : {9u, 3u, 12u}) c.hear(ev, PathFeedback::good);
  EXPECT_EQ(c.next(3), (Values{9, 3, 12}));
}

// [CMS-164] An EV is remembered once, and so at most 256 of them.
TEST(EntropyMixedTest, ItsStateIsBounded) {
  Context c(entropy_config(Spraying::mixed, 256));
  for (int i = 0; i < 3; ++i) {
    for (uint32_t ev = 0; ev < 256; ++ev) {
      c.hear(ev, PathFeedback::good);
      c.hear(ev, PathFeedback::good);
    }
  }
  Values expected;
  for (uint32_t ev = 0; ev < 256; ++ev) expected.push_back(ev);
  EXPECT_EQ(c.next(256), expected);
  const Values by_walk = c.next(256);
  EXPECT_NE(by_walk, expected);
  EXPECT_EQ(std::set<uint32_t>(by_walk.begin(), by_walk.end()).size(), 256u);
}

// [CMS-154, CMS-162] A good EV that is marked since is not used, but again after a round trip.
TEST(EntropyMixedTest, AGoodEvThatIsMarkedRests) {
  Context c(entropy_config(Spraying::mixed, 16));
  c.hear(9, PathFeedback::good);
  c.hear(3, PathFeedback::good);
  c.hear(9, PathFeedback::ecn);
  EXPECT_EQ(c.next(1), (Values{3}));
  c.elapse(Duration::microseconds(30));
  c.hear(9, PathFeedback::good);
  EXPECT_EQ(c.next(1), (Values{9}));
}

// [CMS-155, CMS-162] A lost packet takes its EV out of the good ones.
TEST(EntropyMixedTest, AGoodEvThatLosesAPacketIsForgotten) {
  Context c(entropy_config(Spraying::mixed, 16));
  for (uint32_t ev : {9u, 3u, 12u}) c.hear(ev, PathFeedback::good);
  c.hear(3, PathFeedback::timeout);
  c.elapse(Duration::milliseconds(1));
  EXPECT_EQ(c.next(2), (Values{9, 12}));
  EXPECT_EQ(Context::uses_of(3, c.next(100)), 0u) << "passed over 15 times";
}

// --- NACKs ---

// [CMS-023, CMS-163] A trim on the last hop does not count against the path, and other refusals do
// not either.
TEST(NackFeedbackTest, OnlyATrimOfThePathIsHeldAgainstIt) {
  EXPECT_EQ(nack_feedback(LossKind::trimmed, false), PathFeedback::trimmed);
  EXPECT_EQ(nack_feedback(LossKind::trimmed, true), PathFeedback::trimmed);
  EXPECT_EQ(nack_feedback(LossKind::trimmed_lasthop, false), PathFeedback::good);
  EXPECT_EQ(nack_feedback(LossKind::trimmed_lasthop, true), PathFeedback::ecn);
  EXPECT_EQ(nack_feedback(LossKind::refused, false), PathFeedback::good);
  EXPECT_EQ(nack_feedback(LossKind::refused, true), PathFeedback::ecn);
}

}  // namespace
}  // namespace uet::cms
