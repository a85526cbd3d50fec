// Traffic asked for by names and values.
#include "sim/traffic/request.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace uet::sim {
namespace {

std::string problem_of(const std::string& text) {
  try {
    traffic_of_text(text, {});
  } catch (const TrafficError& e) {
    return e.what();
  }
  return "no problem";
}

TEST(RequestTest, EveryPatternGivesTrafficThatCanBeRun) {
  for (const PatternName& pattern : pattern_names()) {
    const Traffic traffic = traffic_of(pattern.name, {});
    EXPECT_EQ(traffic.hosts, 16u) << pattern.name;
    EXPECT_FALSE(traffic.flows.empty()) << pattern.name;
    EXPECT_EQ(traffic.problem(), "") << pattern.name;
  }
}

TEST(RequestTest, ATextSaysPatternAndValues) {
  const Traffic traffic = traffic_of_text("incast:senders=3,bytes=1MB,receiver=5", {.hosts = 8});
  EXPECT_EQ(traffic.hosts, 8u);
  ASSERT_EQ(traffic.flows.size(), 3u);
  EXPECT_EQ(traffic.flows[0].bytes, 1'000'000u);
  EXPECT_EQ(traffic.flows[0].to, 5u);
  EXPECT_EQ(traffic_of_text("permutation", {.hosts = 8}).flows.size(), 8u);
}

// 8 hosts in 2 groups of 4. Interleaved: 0 2 4 6 and 1 3 5 7.
TEST(RequestTest, GroupsAreBlocksOrInterleaved) {
  const auto neighbours = [](const std::string& layout) {
    std::set<uint32_t> out;
    const std::string text = "ring-all-reduce:group=4,layout=" + layout;
    for (const Flow& f : traffic_of_text(text, {.hosts = 8}).flows) {
      if (f.from == 0) out.insert(f.to);
    }
    return out;
  };
  EXPECT_EQ(neighbours("blocks"), std::set<uint32_t>{1});
  EXPECT_EQ(neighbours("interleaved"), std::set<uint32_t>{2});
}

TEST(RequestTest, CollectivesHaveOwnConnectionsUnlessTheyShare) {
  EXPECT_EQ(traffic_of_text("all-gather", {}).flows[0].connection, 0u);
  EXPECT_NE(traffic_of_text("all-gather:connections=shared", {}).flows[0].connection, 0u);
}

// Known before the first flow is made.
TEST(RequestTest, MoreFlowsThanMemoryHasRoomForAreRefused) {
  EXPECT_EQ(
      problem_of("all-to-all:hosts=1M"),
      "999999000000 flows; at most 16777216 are possible; take fewer hosts, or groups of some");
  for (const char* const text : {"poisson:time=1week", "ring-all-reduce:hosts=1M",
                                 "broadcast:hosts=1M,chunks=100", "experts:hosts=1M"}) {
    EXPECT_NE(problem_of(text).find(" flows; at most 16777216 are possible; "), std::string::npos);
  }
}

TEST(RequestTest, ProblemsNameTheKey) {
  EXPECT_EQ(problem_of("incats").substr(0, 27), "'incats' is not one of inca");
  EXPECT_EQ(problem_of("incast:senders=many"),
            "senders: 'many' is not a number, such as 512, 70B or 15T");
  EXPECT_EQ(problem_of("incast:senders=1.5"), "senders: '1.5' is not a whole number of that size");
  EXPECT_EQ(problem_of("incast:parallel=2"), "incast has no key parallel");
  EXPECT_EQ(problem_of("incast:nonsense=2"), "incast has no key nonsense");
  EXPECT_EQ(problem_of("incast:8"), "'8' is not KEY=VALUE");
  EXPECT_EQ(problem_of("all-gather:group=3"),
            "group 3 does not divide the 16 hosts, or is below 2");
  EXPECT_EQ(problem_of("all-gather:layout=round"),
            "layout: 'round' is neither blocks nor interleaved");
  EXPECT_EQ(problem_of("poisson:sizes=large"),
            "sizes: the distribution of sizes is web-search or ai, not large");
}

}  // namespace
}  // namespace uet::sim
