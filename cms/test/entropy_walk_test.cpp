// The values that a context has, and the order in which oblivious spraying uses them.
#include "cms/entropy/oblivious.h"
#include "cms/test/entropy_config.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace uet::cms {
namespace {

std::vector<uint32_t> walked(EntropyWalk& walk, Rng& rng, uint32_t steps) {
  std::vector<uint32_t> seen;
  for (uint32_t i = 0; i < steps; ++i) seen.push_back(walk.next(rng));
  return seen;
}

// [CMS-158] Step i of a round is i XOR x: the first has i = 0 and is x itself.
TEST(EntropyWalkTest, StepsAreXoredWithANumberOfTheRound) {
  Rng rng(3);
  EntropyWalk walk(64, rng);
  for (int round = 0; round < 10; ++round) {
    const std::vector<uint32_t> seen = walked(walk, rng, 64);
    ASSERT_LT(seen[0], 64u);
    for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(seen[i], i ^ seen[0]) << round;
  }
}

// [CMS-152, CMS-158] A new x for each round: of 64 rounds about 41 differ, 64 (1 - 1/e).
TEST(EntropyWalkTest, EachRoundHasAnotherOrder) {
  Rng rng(3);
  EntropyWalk walk(64, rng);
  std::set<uint32_t> firsts;
  for (int round = 0; round < 64; ++round) firsts.insert(walked(walk, rng, 64)[0]);
  EXPECT_GE(firsts.size(), 32u);
}

// [CMS-152, CMS-158] Whatever their number, EVs come once each in a round.
TEST(EntropyWalkTest, EachIndexComesOnceInARound) {
  for (uint32_t size : {1u, 2u, 3u, 7u, 16u, 100u, 256u, 1000u, 65536u}) {
    Rng rng(size);
    EntropyWalk walk(size, rng);
    for (int round = 0; round < 3; ++round) {
      const std::vector<uint32_t> seen = walked(walk, rng, size);
      const std::set<uint32_t> different(seen.begin(), seen.end());
      EXPECT_EQ(different.size(), size);
      EXPECT_LT(*different.rbegin(), size);
    }
  }
}

// [WIRE-007, CMS-151, CMS-152]
TEST(ObliviousSelectorTest, UsesEveryValueEquallyOften) {
  Config config = entropy_config(Spraying::oblivious, 16);
  Rng rng(7);
  ObliviousSelector selector(config, rng);
  std::map<uint16_t, int> uses;
  for (int i = 0; i < 160; ++i) ++uses[selector.next().value()];
  ASSERT_EQ(uses.size(), 16u);
  for (const auto& [ev, n] : uses) {
    EXPECT_LT(ev, 16);
    EXPECT_EQ(n, 10) << ev;
  }
}

TEST(ObliviousSelectorTest, TheSeedRepeatsTheOrder) {
  const Config config = entropy_config(Spraying::oblivious, 64);
  Rng one(5), same(5), other(6);
  ObliviousSelector a(config, one), b(config, same), c(config, other);
  int differences = 0;
  for (int i = 0; i < 1000; ++i) {
    const Entropy ev = a.next();
    EXPECT_EQ(ev, b.next());
    differences += ev != c.next() ? 1 : 0;
  }
  EXPECT_GT(differences, 900);
}

// --- the values ---

// [CMS-149, CMS-158] The bits above are a random number for each context; each of the ports that a
// backend picks by a modulo has its EV.
TEST(EntropyRangeTest, UpperBitsAreRandomForEachContext) {
  for (uint32_t size : {1u, 7u, 16u, 256u}) {
    Config config = entropy_config(Spraying::oblivious, size);
    config.entropy.random_upper_bits = true;
    Rng rng(size);
    std::set<uint32_t> above;
    for (int context = 0; context < 100; ++context) {
      const EntropyRange range(config, size, rng);
      ASSERT_EQ(range.size(), size);
      for (uint32_t i = 0; i < size; ++i) {
        EXPECT_EQ(range.at(i).value() % size, i);
        EXPECT_EQ(range.at(i).value() / size, range.at(0).value() / size);
        EXPECT_EQ(range.index_of(range.at(i)), i);
      }
      above.insert(range.at(0).value() / size);
    }
    EXPECT_GT(above.size(), 75u) << size;  // of 100; of 256 numbers 83 on average
  }
}

// A value that looks like the source port of another process is not sent; all others are. [decision
// 3]
TEST(EntropyRangeTest, SomeValuesAreLeftOut) {
  for (uint32_t size : {1u, 7u, 16u, 256u, 5000u}) {
    Config config = entropy_config(Spraying::oblivious, size);
    config.entropy.random_upper_bits = true;
    ASSERT_EQ(config.entropy.left_out_first, 16384);
    ASSERT_EQ(config.entropy.left_out_last, 20479);
    Rng rng(size);
    uint32_t lower = 0;
    uint32_t highest = 0;
    for (int context = 0; context < 4000; ++context) {
      const EntropyRange range(config, size, rng);
      const uint32_t first = range.at(0).value();
      const uint32_t last = range.at(size - 1).value();
      EXPECT_TRUE(last < 16384 || first > 20479) << first;
      lower += last < 16384 ? 1 : 0;
      highest = std::max(highest, last);
    }
    EXPECT_GT(highest, 59000u);  // of 13 runs of 5,000 the last ends at 64,999
    EXPECT_NEAR(lower, 4000 * 16384 / (65536 - 4096), size == 5000 ? 200 : 130) << size;
  }
}

// [CMS-149] An EV of the peer's invention leads to no index.
TEST(EntropyRangeTest, OtherValuesHaveNoIndex) {
  for (uint32_t size : {1u, 7u, 64u}) {
    Config config = entropy_config(Spraying::oblivious, size);
    config.entropy.random_upper_bits = true;
    Rng rng(11);
    const EntropyRange range(config, size, rng);
    uint32_t known = 0;
    for (uint32_t ev = 0; ev < 65536; ++ev) {
      const auto index = range.index_of(Entropy(static_cast<uint16_t>(ev)));
      if (!index) continue;
      ++known;
      EXPECT_EQ(range.at(*index).value(), ev);
    }
    EXPECT_EQ(known, size);
  }
}

TEST(EntropyRangeTest, AllValuesMayBeUsed) {
  Config config = entropy_config(Spraying::oblivious, 65536);
  config.entropy.random_upper_bits = true;
  Rng rng(1);
  const EntropyRange range(config, 65536, rng);
  EXPECT_EQ(range.size(), 65536u);
  EXPECT_EQ(range.at(0), Entropy(0));
  EXPECT_EQ(range.at(65535), Entropy(65535));
}

// [CMS-153] 100 Gb/s x 12 us = 150,000 octets = 35 packets of 4,240; 70 in two round trips. Of
// 400 Gb/s 283 packets. A slow link keeps 16.
TEST(EntropyRangeTest, TwoRoundTripsOfPacketsHaveAnEvEach) {
  Config config;
  ASSERT_EQ(config.mtu_bytes, 4240u);
  ASSERT_EQ(config.bdp_bytes(), 150'000u);
  EXPECT_EQ(EntropyRange::tracked(config), 64u);
  config.link_mbps = 400'000;
  EXPECT_EQ(EntropyRange::tracked(config), 256u);
  config.link_mbps = 1'000;
  EXPECT_EQ(EntropyRange::tracked(config), 16u);
  config.link_mbps = 100'000;
  config.entropy.reuse_rtts = 4;
  EXPECT_EQ(EntropyRange::tracked(config), 128u);
  config.entropy.reuse_rtts = 0;
  EXPECT_EQ(EntropyRange::tracked(config), 256u) << "no limit but the memory [CMS-157]";
}

// [CMS-156] Each plane has the same number of EVs.
TEST(EntropyRangeTest, PlanesShareTheValues) {
  Config config = entropy_config(Spraying::oblivious, 16);
  config.entropy.random_upper_bits = true;
  config.entropy.planes = 3;
  Rng rng(1);
  const EntropyRange range(config, 16, rng);
  ASSERT_EQ(range.size(), 15u);
  std::map<uint32_t, int> values;
  for (uint32_t i = 0; i < 15; ++i) {
    EXPECT_EQ(range.plane_of(i), range.at(i).value() % 3u);
    ++values[range.plane_of(i)];
  }
  EXPECT_EQ(values, (std::map<uint32_t, int>{{0, 5}, {1, 5}, {2, 5}}));
}

}  // namespace
}  // namespace uet::cms
