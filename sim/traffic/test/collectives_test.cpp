// Collectives. An executor lets flows be done in random orders that their triggers allow, and
// tracks which ranks' contributions each rank has for each part of the vector: a flow carries what
// its source had when it began. Bytes, rounds and orders are counted by hand.
#include "sim/traffic/collectives.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <string>

namespace uet::sim {
namespace {

// How often each rank's contribution is in a part.
using Sum = std::vector<int>;

Sum only(uint32_t rank, uint32_t n) {
  Sum out(n);
  out[rank] = 1;
  return out;
}

std::vector<uint32_t> hosts(uint32_t n) {
  std::vector<uint32_t> out(n);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

using Make = std::function<Ends(const Collective&)>;

// A collective of n ranks on hosts 0 to n - 1.
class Ranked {
 public:
  Ranked(uint32_t n, uint64_t bytes, const Make& make) : n_(n), graph_(n) {
    graph_.set_kind("collective");
    ends_ = make({graph_, hosts(n), bytes});
    traffic_ = graph_.traffic();
    EXPECT_EQ(traffic_.problem(), "");
    for (const Task& task : graph_.tasks()) {
      pieces_ = std::max(pieces_, task.piece.first + task.piece.count);
    }
  }

  // Before: rank r has its own contribution to all parts.
  void everybody_has_a_vector() {
    for (uint32_t r = 0; r < n_; ++r) has_.emplace_back(pieces_, only(r, n_));
  }

  // Flows that have begun are done in a random order.
  void execute(uint64_t seed, const std::function<void(const Task&)>& on_begin = {}) {
    Rng rng(seed);
    Progress progress(traffic_);
    std::vector<uint32_t> open;
    std::map<uint32_t, std::vector<Sum>> carried;
    const auto begin = [&](std::span<const Progress::Begin> begins) {
      for (const Progress::Begin& b : begins) {
        open.push_back(b.flow);
        if (b.flow >= graph_.tasks().size()) continue;  // a pause that fires triggers
        const Task& task = graph_.tasks()[b.flow];
        if (on_begin) on_begin(task);
        const auto from = has_[task.from].begin() + task.piece.first;
        carried[b.flow] = {from, from + task.piece.count};
      }
    };
    begin(progress.start());
    while (!open.empty()) {
      std::swap(open[rng.below(open.size())], open.back());
      const uint32_t flow = open.back();
      open.pop_back();
      if (flow < graph_.tasks().size()) arrive(graph_.tasks()[flow], carried[flow]);
      begin(progress.done(flow, Duration::zero()));
    }
    EXPECT_TRUE(progress.is_finished());
  }

  // When each flow takes a microsecond.
  int64_t rounds() const {
    return finish([](const Flow&) { return Duration::microseconds(1); });
  }

  int64_t finish(const std::function<Duration(const Flow&)>& takes) const {
    using Event = std::pair<Duration, uint32_t>;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    Progress progress(traffic_);
    const auto begin = [&](std::span<const Progress::Begin> begins) {
      for (const Progress::Begin& b : begins) {
        const Flow& flow = traffic_.flows[b.flow];
        events.push({b.at + (flow.is_pause() ? Duration::zero() : takes(flow)), b.flow});
      }
    };
    begin(progress.start());
    Duration now;
    while (!events.empty()) {
      uint32_t flow = 0;
      std::tie(now, flow) = events.top();
      events.pop();
      begin(progress.done(flow, now));
    }
    return now.us();
  }

  std::vector<uint64_t> bytes_sent() const {
    std::vector<uint64_t> out(n_);
    for (const Flow& flow : traffic_.flows) out[flow.from] += flow.bytes;
    return out;
  }

  const Sum& sum(uint32_t rank, uint32_t piece) const { return has_[rank][piece]; }
  uint32_t pieces() const { return pieces_; }
  const Traffic& traffic() const { return traffic_; }
  const Ends& ends() const { return ends_; }

 private:
  void arrive(const Task& task, const std::vector<Sum>& carried) {
    for (uint32_t i = 0; i < task.piece.count; ++i) {
      Sum& there = has_[task.to][task.piece.first + i];
      if (!task.piece.adds) {
        there = carried[i];
        continue;
      }
      for (uint32_t r = 0; r < n_; ++r) there[r] += carried[i][r];
    }
  }

  const uint32_t n_;
  TaskGraph graph_;
  Ends ends_;
  Traffic traffic_;
  uint32_t pieces_ = 0;
  std::vector<std::vector<Sum>> has_;  // [rank][part]
};

void expect_all_reduced(uint32_t n, const Make& make) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Ranked run(n, 10'000, make);
    run.everybody_has_a_vector();
    run.execute(seed);
    for (uint32_t r = 0; r < n; ++r) {
      for (uint32_t piece = 0; piece < run.pieces(); ++piece) {
        ASSERT_EQ(run.sum(r, piece), Sum(n, 1)) << n << " ranks, rank " << r << ", part " << piece;
      }
    }
  }
}

Ends double_tree(const Collective& c) { return double_tree_all_reduce(c, 4); }
Ends broadcast(const Collective& c) { return pipeline_broadcast(c, 5); }

TEST(CollectivesTest, AllReducesGiveEachRankTheSumOfAll) {
  for (const uint32_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 23}) {
    expect_all_reduced(n, ring_all_reduce);
    expect_all_reduced(n, double_tree);
    expect_all_reduced(n, halving_doubling_all_reduce);
  }
}

TEST(CollectivesTest, ReduceScatterGivesRankRTheSumOfPartR) {
  for (const uint32_t n : {2, 3, 8, 13}) {
    Ranked run(n, 1'000, ring_reduce_scatter);
    run.everybody_has_a_vector();
    run.execute(n);
    for (uint32_t r = 0; r < n; ++r) EXPECT_EQ(run.sum(r, r), Sum(n, 1));
  }
}

TEST(CollectivesTest, AllGatherGivesEachRankPartRFromRankR) {
  for (const uint32_t n : {2, 3, 8, 13}) {
    Ranked run(n, 1'000, ring_all_gather);
    run.everybody_has_a_vector();
    run.execute(n);
    for (uint32_t r = 0; r < n; ++r) {
      for (uint32_t piece = 0; piece < n; ++piece) EXPECT_EQ(run.sum(r, piece), only(piece, n));
    }
  }
}

TEST(CollectivesTest, BroadcastGivesEachRankAllOfRankZero) {
  Ranked run(6, 1'000, broadcast);
  run.everybody_has_a_vector();
  run.execute(1);
  for (uint32_t r = 0; r < 6; ++r) {
    for (uint32_t piece = 0; piece < 5; ++piece) EXPECT_EQ(run.sum(r, piece), only(0, 6));
  }
}

// 4 ranks, 800 bytes: parts of 200. Each rank sends 2 * 3/4 * 800 = 1,200 bytes in 2 * 3 rounds.
TEST(CollectivesTest, ARingSendsTwiceAllButOnePart) {
  const Ranked run(4, 800, ring_all_reduce);
  EXPECT_EQ(run.bytes_sent(), (std::vector<uint64_t>(4, 1'200)));
  EXPECT_EQ(run.traffic().flows.size(), 24u);
  EXPECT_EQ(run.rounds(), 6);
  for (const Flow& flow : run.traffic().flows) EXPECT_EQ(flow.to, (flow.from + 1) % 4);
  EXPECT_EQ(Ranked(4, 800, ring_reduce_scatter).rounds(), 3);
  EXPECT_EQ(Ranked(4, 800, ring_all_gather).bytes_sent(), (std::vector<uint64_t>(4, 600)));
}

// 10 bytes among 4 ranks: parts of 3, 3, 2 and 2. In a reduce-scatter rank r sends all but its own.
TEST(CollectivesTest, PartsDifferByOneByteAtMost) {
  EXPECT_EQ(Ranked(4, 10, ring_reduce_scatter).bytes_sent(), (std::vector<uint64_t>{7, 7, 8, 8}));
}

// In a ring of 3, numbered by step and rank, a flow waits for the one of the rank before it in the
// step before: 3 (rank 0, step 1) for 2 (rank 2, step 0), and so on.
TEST(CollectivesTest, ARankOfARingForwardsReceivedParts) {
  const Ranked run(3, 300, ring_reduce_scatter);
  Progress progress(run.traffic());
  EXPECT_EQ(progress.start().size(), 3u);
  const auto next_of = [&](uint32_t flow) {
    const auto begins = progress.done(flow, Duration::zero());
    return begins.size() == 1 ? begins[0].flow : UINT32_MAX;
  };
  EXPECT_EQ(next_of(2), 3u);
  EXPECT_EQ(next_of(0), 4u);
  EXPECT_EQ(next_of(1), 5u);
}

// 4 ranks, 800 bytes, a half for each tree. First tree: 0 - 2 - {1, 3}; second one: 3 - 1 - {2, 0}.
// The roots send 400 down, and as a leaf of the other tree 400 up; ranks 1 and 2 send 400 up and
// twice 400 down in one tree, and 400 up in the other.
TEST(CollectivesTest, TwoTreesShareTheWorkOfInnerRanks) {
  const Ranked run(4, 800, double_tree);
  EXPECT_EQ(run.bytes_sent(), (std::vector<uint64_t>{800, 1'600, 1'600, 800}));
  EXPECT_EQ(run.rounds(), 4);  // two levels up, two down; all chunks at once
}

// In either tree of 2 to 64 ranks: as many sends up as down, and no rank sends more than twice the
// vector. The depth of n ranks is 1 + floor(log2(n - 1)).
TEST(CollectivesTest, TreesAreFlatAndNoRankSendsMoreThanTwiceTheVector) {
  for (uint32_t n = 2; n <= 64; ++n) {
    const Ranked run(n, 8'000, double_tree);
    for (const uint64_t bytes : run.bytes_sent()) EXPECT_LE(bytes, 16'000u) << n;
    EXPECT_EQ(run.traffic().bytes(), 2u * (n - 1) * 8'000u) << n;
    uint32_t depth = 1;
    while ((n - 1) >> depth != 0) ++depth;
    EXPECT_EQ(tree_depth(n), depth) << n;
    EXPECT_EQ(run.rounds(), 2 * depth) << n;
  }
}

// Two ranks: each sends up in one tree, and down in the other. Four: up and twice down, and as a
// leaf of the other tree up.
TEST(CollectivesTest, TheBusiestRankOfTwoTrees) {
  EXPECT_EQ(tree_sends(1), 0u);
  EXPECT_EQ(tree_sends(2), 2u);
  EXPECT_EQ(tree_sends(4), 4u);
}

// If n is even, an odd rank is a leaf of the first tree, and an even one of the other: a leaf
// receives one chunk from one parent and forwards it to no rank.
TEST(CollectivesTest, EachRankIsALeafOfOneTree) {
  const Ranked run(16, 1'600, [](const Collective& c) { return double_tree_all_reduce(c, 1); });
  std::map<std::pair<uint32_t, uint32_t>, int> sends;  // by rank and tree
  for (uint32_t i = 0; i < run.traffic().flows.size(); ++i) {
    const uint32_t tree = i < run.traffic().flows.size() / 2 ? 0 : 1;
    ++sends[{run.traffic().flows[i].from, tree}];
  }
  for (uint32_t r = 0; r < 16; ++r) EXPECT_EQ((sends[{r, r % 2 == 0 ? 1u : 0u}]), 1) << r;
}

// 8 ranks, 800 bytes: 400 + 200 + 100, and back, in 3 + 3 rounds.
TEST(CollectivesTest, HalvingAndDoublingTakesLogarithmicallyManyRounds) {
  const Ranked run(8, 800, halving_doubling_all_reduce);
  EXPECT_EQ(run.bytes_sent(), (std::vector<uint64_t>(8, 1'400)));
  EXPECT_EQ(run.rounds(), 6);
  EXPECT_EQ(run.traffic().flows[0].to, 4u);  // the first partner is half the ranks away
  EXPECT_EQ(run.traffic().flows[0].bytes, 400u);
}

// 6 ranks: a core of 4, ranks 1, 3, 4 and 5; ranks 0 and 2 give and get all: 2 + 2 * 2 rounds.
TEST(CollectivesTest, RanksBeyondAPowerOfTwoTakeTwoMoreRounds) {
  const Ranked run(6, 800, halving_doubling_all_reduce);
  EXPECT_EQ(run.bytes_sent(), (std::vector<uint64_t>{800, 2'000, 800, 2'000, 1'200, 1'200}));
  EXPECT_EQ(run.rounds(), 6);
}

// 5 chunks over 5 links: the first chunk takes 5 rounds, and all are queued at once.
TEST(CollectivesTest, BroadcastIsAPipeline) {
  const Ranked run(6, 1'000, broadcast);
  EXPECT_EQ(run.bytes_sent(), (std::vector<uint64_t>{1'000, 1'000, 1'000, 1'000, 1'000, 0}));
  EXPECT_EQ(run.rounds(), 5);
  std::map<uint32_t, uint32_t> of_sender;
  for (const Flow& f : run.traffic().flows) {
    EXPECT_EQ(of_sender.try_emplace(f.from, f.connection).first->second, f.connection);
  }
  EXPECT_EQ(of_sender.size(), 5u);
}

// A rank that is not ready holds up the ranks that need its part or its forwarding, and no other.
TEST(CollectivesTest, ARankTakesPartOnlyWhenItIsReady) {
  for (const Make& make : {Make(ring_all_reduce), Make(double_tree), Make(ring_all_gather),
                           Make(halving_doubling_all_reduce), Make(broadcast)}) {
    TaskGraph graph(5);
    const uint32_t slow = graph.pause(3, Duration::microseconds(100), {});
    const Ends ends = make({graph, hosts(5), 1'000, {{}, {}, {}, {slow}, {}}});
    const Traffic traffic = graph.traffic();
    ASSERT_EQ(traffic.problem(), "");
    // Let everything be done but the slow rank: it must send nothing.
    Progress progress(traffic);
    std::vector<uint32_t> open;
    const auto note = [&](std::span<const Progress::Begin> begins) {
      for (const Progress::Begin& b : begins) {
        if (b.flow != slow) open.push_back(b.flow);
      }
    };
    note(progress.start());
    while (!open.empty()) {
      const uint32_t flow = open.back();
      open.pop_back();
      EXPECT_NE(traffic.flows[flow].from, 3u);
      note(progress.done(flow, Duration::zero()));
    }
    EXPECT_FALSE(progress.is_finished());
  }
}

// A rank computes as soon as the tasks of its end are done: it must have its result then, though
// other ranks have not.
TEST(CollectivesTest, ARankEndsWhenItHasItsResult) {
  constexpr uint32_t kRanks = 6;
  for (const Make& make :
       {Make(ring_all_reduce), Make(double_tree), Make(halving_doubling_all_reduce)}) {
    for (uint64_t seed = 0; seed < 50; ++seed) {
      Ranked run(kRanks, 6'000, [&](const Collective& c) {
        const Ends ends = make(c);
        for (uint32_t r = 0; r < kRanks; ++r) c.graph.pause(r, Duration::zero(), ends[r]);
        return ends;
      });
      run.everybody_has_a_vector();
      uint32_t ended = 0;
      run.execute(seed, [&](const Task& task) {
        if (task.from != task.to) return;
        ++ended;
        for (uint32_t piece = 0; piece < run.pieces(); ++piece) {
          ASSERT_EQ(run.sum(task.from, piece), Sum(kRanks, 1)) << "rank " << task.from;
        }
      });
      EXPECT_EQ(ended, kRanks);
    }
  }
}

// 3 ranks without skew, 900 bytes each: 300 to each other expert, and back: 4 * 300 = 1,200 sent by
// each rank, 600 dispatched and 600 returned.
TEST(ExpertsTest, TokensGoToEachExpertAndComeBack) {
  const Experts experts{.skew = 0, .compute = Duration::microseconds(50)};
  const Ranked run(3, 900, [&](const Collective& c) { return expert_exchange(c, experts); });
  EXPECT_EQ(run.bytes_sent(), (std::vector<uint64_t>(3, 1'200)));
  EXPECT_EQ(run.rounds(), 52);  // dispatch, compute, combine
}

TEST(ExpertsTest, NothingComesBackBeforeAllTokensOfTheExpertAreThere) {
  const Ranked run(4, 400, [](const Collective& c) { return expert_exchange(c, {}); });
  Progress progress(run.traffic());
  const auto begins = progress.start();
  ASSERT_EQ(begins.size(), 12u);  // each of 4 to 3 others
  std::vector<uint32_t> to_expert_2;
  for (uint32_t flow = 0; flow < 12; ++flow) {
    if (run.traffic().flows[flow].to == 2) to_expert_2.push_back(flow);
  }
  ASSERT_EQ(to_expert_2.size(), 3u);
  EXPECT_EQ(progress.done(to_expert_2[0], Duration::zero()).size(), 0u);
  EXPECT_EQ(progress.done(to_expert_2[2], Duration::zero()).size(), 0u);
  const auto combine = progress.done(to_expert_2[1], Duration::zero());
  ASSERT_EQ(combine.size(), 3u);
  for (const Progress::Begin& b : combine) EXPECT_EQ(run.traffic().flows[b.flow].from, 2u);
}

// Zipf with exponent 1 and 4 experts: 1 + 1/2 + 1/3 + 1/4 = 25/12, so 12/25, 6/25, 4/25 and 3/25.
TEST(ExpertsTest, SkewGivesSomeExpertsMore) {
  std::vector<double> shares = expert_shares(4, 1.0, 3);
  EXPECT_NE(shares, expert_shares(4, 1.0, 4));  // the seed draws the popular experts
  std::sort(shares.begin(), shares.end());
  const double expected[] = {3 / 25.0, 4 / 25.0, 6 / 25.0, 12 / 25.0};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(shares[i], expected[i], 1e-12);
  EXPECT_EQ(expert_shares(4, 0, 3), std::vector<double>(4, 0.25));
}

TEST(TaskGraphTest, ATaskThatManyWaitForFiresThemAll) {
  TaskGraph graph(8);
  const uint32_t first = graph.send(0, 1, 10, {});
  const uint32_t other = graph.send(0, 2, 10, {});
  for (uint32_t h = 2; h < 8; ++h) {  // each with another set of tasks
    const uint32_t pause = graph.pause(h, Duration::microseconds(h), {});
    graph.send(1, h, 10, {first, pause});
  }
  graph.send(1, 3, 10, {first});
  graph.send(1, 4, 10, {first, other});
  const Traffic traffic = graph.traffic();
  EXPECT_EQ(traffic.problem(), "");
  EXPECT_GT(traffic.flows.size(), graph.tasks().size());  // pauses that fire the rest
}

TEST(TaskGraphTest, SendsWithinANodeArePausesOfItsLinks) {
  TaskGraph graph(8, {.hosts_per_node = 4, .gbps = 800, .latency = Duration::microseconds(2)});
  graph.send(0, 3, 1'000'000, {});  // 8e6 bits at 800 per ns: 10 us
  graph.send(0, 4, 1'000'000, {});
  const Traffic traffic = graph.traffic();
  EXPECT_TRUE(traffic.flows[0].is_pause());
  EXPECT_EQ(traffic.flows[0].start.us(), 12);
  EXPECT_EQ(traffic.flows[1].to, 4u);
  EXPECT_EQ(traffic.bytes(), 1'000'000u);
}

TEST(TaskGraphTest, SendsOfOneKindBetweenTwoHostsShareAConnection) {
  TaskGraph graph(3);
  graph.set_kind("a");
  graph.send(0, 1, 1, {});
  graph.send(0, 1, 1, {});
  graph.send(0, 2, 1, {});
  graph.set_kind("b");
  graph.send(0, 1, 1, {});
  const Traffic shared = graph.traffic();
  EXPECT_EQ(shared.flows[0].connection, shared.flows[1].connection);
  EXPECT_NE(shared.flows[0].connection, shared.flows[2].connection);
  EXPECT_NE(shared.flows[0].connection, shared.flows[3].connection);
  for (const Flow& flow : graph.traffic(TaskGraph::Connections::own).flows) {
    EXPECT_EQ(flow.connection, 0u);
  }
  EXPECT_EQ(shared.kinds[shared.flows[3].kind], "b");
}

TEST(CollectivesTest, FewerBytesThanPartsAreAnError) {
  TaskGraph graph(4);
  EXPECT_THROW(ring_all_reduce({graph, hosts(4), 3}), TrafficError);
  EXPECT_THROW(double_tree_all_reduce({graph, hosts(4), 7}, 4), TrafficError);
}

}  // namespace
}  // namespace uet::sim
