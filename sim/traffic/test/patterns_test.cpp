// Traffic made by rule: senders and receivers, that a seed repeats it, and the statistics of random
// draws.
#include "sim/traffic/patterns.h"

#include "sim/traffic/matrix.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace uet::sim {
namespace {

using Hosts = std::set<uint32_t>;

template <typename Make>
std::string refusal_of(Make make) {
  try {
    make();
  } catch (const TrafficError& e) {
    return e.what();
  }
  return "no error";
}

TEST(PatternsTest, IncastHasDistinctSendersAndOneReceiver) {
  const Traffic t = incast({.hosts = 128, .bytes = 2'000'000, .seed = 5}, 8, 3);
  ASSERT_EQ(t.problem(), "");
  ASSERT_EQ(t.flows.size(), 8u);
  Hosts from;
  for (const Flow& flow : t.flows) {
    EXPECT_EQ(flow.to, 3u);
    EXPECT_EQ(flow.bytes, 2'000'000u);
    EXPECT_EQ(flow.start, Duration::zero());
    from.insert(flow.from);
  }
  EXPECT_EQ(from.size(), 8u);
  EXPECT_FALSE(from.contains(3));
}

TEST(PatternsTest, IncastOfAllHostsHasAllSenders) {
  Hosts from;
  for (const Flow& f : incast({.hosts = 5, .bytes = 1}, 4, 4).flows) from.insert(f.from);
  EXPECT_EQ(from, (Hosts{0, 1, 2, 3}));
}

TEST(PatternsTest, OutcastHasOneSender) {
  const Traffic t = outcast({.hosts = 5, .bytes = 1}, 4, 0);
  Hosts to;
  for (const Flow& f : t.flows) {
    EXPECT_EQ(f.from, 0u);
    to.insert(f.to);
  }
  EXPECT_EQ(to, (Hosts{1, 2, 3, 4}));
}

TEST(PatternsTest, APermutationSendsAndReceivesOnceAtEachHost) {
  for (uint32_t hosts = 2; hosts < 40; ++hosts) {
    const Traffic t = permutation({.hosts = hosts, .bytes = 7, .seed = hosts});
    ASSERT_EQ(t.problem(), "");  // no host sends to itself
    Hosts from, to;
    for (const Flow& f : t.flows) {
      from.insert(f.from);
      to.insert(f.to);
    }
    EXPECT_EQ(from.size(), hosts);
    EXPECT_EQ(to.size(), hosts);
  }
}

// There are 9 derangements of 4: 44 of 5 would be next. Each is as likely as the others: of 9,000
// draws 1,000 each, with a deviation of sqrt(9,000 * 1/9 * 8/9) = 30.
TEST(PatternsTest, EveryDerangementIsAsLikely) {
  std::map<std::string, int> seen;
  for (uint64_t seed = 0; seed < 9'000; ++seed) {
    std::string to;
    for (const Flow& f : permutation({.hosts = 4, .bytes = 1, .seed = seed}).flows) {
      to += std::to_string(f.to);
    }
    ++seen[to];
  }
  EXPECT_EQ(seen.size(), 9u);
  for (const auto& [to, count] : seen) EXPECT_NEAR(count, 1'000, 150) << to;
}

TEST(PatternsTest, ASeedRepeatsAndAnotherDiffers) {
  const auto text = [](uint64_t seed) {
    return matrix_text(permutation({.hosts = 64, .bytes = 9, .seed = seed})) +
           matrix_text(all_to_all({.hosts = 8, .bytes = 9, .seed = seed}, 0, 2)) +
           matrix_text(poisson({.hosts = 8, .seed = seed}, SizeDistribution::named("ai")));
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2));
}

TEST(PatternsTest, ARingIsClosed) {
  std::string text;
  for (const Flow& f : ring({.hosts = 5, .bytes = 1}, 2).flows) {
    text += std::to_string(f.from) + ">" + std::to_string(f.to) + " ";
  }
  EXPECT_EQ(text, "0>2 1>3 2>4 3>0 4>1 ");
}

// 12 hosts in 3 groups of 4: each sends to its 3 neighbours, 2 at a time.
TEST(PatternsTest, AllToAllStaysInItsGroupAndKeepsSoManyInFlight) {
  const Traffic t = all_to_all({.hosts = 12, .bytes = 5}, 4, 2);
  ASSERT_EQ(t.problem(), "");
  std::map<uint32_t, Hosts> to;
  for (const Flow& f : t.flows) {
    EXPECT_EQ(f.from / 4, f.to / 4);
    to[f.from].insert(f.to);
  }
  EXPECT_EQ(to.size(), 12u);
  for (const auto& [from, targets] : to) EXPECT_EQ(targets.size(), 3u) << from;
  // At each host two flows begin; when one of them is done, its third.
  Progress progress(t);
  std::map<uint32_t, int> in_flight;
  for (const Progress::Begin& b : progress.start()) ++in_flight[t.flows[b.flow].from];
  EXPECT_EQ(in_flight.size(), 12u);
  for (const auto& [from, count] : in_flight) EXPECT_EQ(count, 2) << from;
  const auto next = progress.done(1, Duration::microseconds(4));  // the second flow of host 0
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].flow, 2u);
  EXPECT_EQ(next[0].at.us(), 4);
}

TEST(PatternsTest, AllToAllAllAtOnceNeedsNoTriggers) {
  const Traffic t = all_to_all({.hosts = 6, .bytes = 5}, 0, 5);
  EXPECT_EQ(t.flows.size(), 30u);
  EXPECT_TRUE(t.triggers.empty());
}

// Sums over the pieces of the table, each its share times its middle: 750 + 750 + 2,500 + 4,000 +
// 8,450 + 9,800 + 60,000 + 150,000 + 350,000 + 525,000 + 600,000.
TEST(PatternsTest, TheMeanOfWebSearchIs1711250Bytes) {
  EXPECT_NEAR(SizeDistribution::named("web-search").mean_bytes(), 1'711'250, 1);
}

TEST(PatternsTest, DrawnSizesHaveTheSharesOfTheTable) {
  const SizeDistribution sizes = SizeDistribution::named("web-search");
  Rng rng(3);
  constexpr int kDraws = 100'000;
  int to_10k = 0, to_200k = 0, to_5m = 0;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t bytes = sizes.draw(rng);
    ASSERT_GE(bytes, 1u);
    ASSERT_LE(bytes, 30'000'000u);
    to_10k += bytes <= 10'000;
    to_200k += bytes <= 200'000;
    to_5m += bytes <= 5'000'000;
    sum += static_cast<double>(bytes);
  }
  EXPECT_NEAR(to_10k, 0.15 * kDraws, 500);
  EXPECT_NEAR(to_200k, 0.60 * kDraws, 700);
  EXPECT_NEAR(to_5m, 0.90 * kDraws, 500);
  EXPECT_NEAR(sum / kDraws, 1'711'250, 50'000);
}

// 64 hosts at 100 Gb/s, half loaded, for 100 ms: 64 * 12.5e9 * 0.5 * 0.1 = 40e9 bytes, which at
// 1.711 MB are 23,375 flows.
TEST(PatternsTest, PoissonArrivalsHaveTheLoad) {
  const Traffic t = poisson(
      {.hosts = 64, .load = 0.5, .link_gbps = 100, .time = Duration::milliseconds(100), .seed = 7},
      SizeDistribution::named("web-search"));
  ASSERT_EQ(t.problem(), "");
  EXPECT_NEAR(static_cast<double>(t.flows.size()), 23'375, 600);  // 4 x its square root
  EXPECT_NEAR(static_cast<double>(t.bytes()), 40e9, 2e9);
  for (size_t i = 1; i < t.flows.size(); ++i) {
    EXPECT_LE(t.flows[i - 1].start, t.flows[i].start);
  }
  EXPECT_LT(t.flows.back().start.ms(), 100);
}

TEST(PatternsTest, ErrorsNameTheParameter) {
  const Pattern right{.hosts = 8, .bytes = 1};
  EXPECT_EQ(refusal_of([] { permutation({.hosts = 1, .bytes = 1}); }),
            "hosts is 2 to 16777216, not 1");
  EXPECT_EQ(refusal_of([] { permutation({.hosts = 2}); }),
            "bytes is 1 to 18446744073709551615, not 0");
  EXPECT_EQ(refusal_of([&] { incast(right, 8, 0); }), "senders is 1 to 7, not 8");
  EXPECT_EQ(refusal_of([&] { incast(right, 7, 8); }), "receiver is 0 to 7, not 8");
  EXPECT_EQ(refusal_of([&] { outcast(right, 0, 0); }), "receivers is 1 to 7, not 0");
  EXPECT_EQ(refusal_of([&] { ring(right, 8); }), "stride is 1 to 7, not 8");
  EXPECT_EQ(refusal_of([&] { all_to_all(right, 3, 1); }), "group 3 does not divide the 8 hosts");
  EXPECT_EQ(refusal_of([&] { all_to_all(right, 4, 4); }), "parallel is 1 to 3, not 4");
  EXPECT_EQ(refusal_of([] { SizeDistribution::named("x"); }),
            "the distribution of sizes is web-search or ai, not x");
  EXPECT_EQ(refusal_of([] { poisson({.hosts = 8, .load = 0}, SizeDistribution::named("ai")); }),
            "load is above 0, at most 10");
}

}  // namespace
}  // namespace uet::sim
