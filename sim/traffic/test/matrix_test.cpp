// Matrices of htsim: all files of the shared folder, files written here by hand, and files that are
// wrong. Counts of the shared files are those of its README.
#include "sim/traffic/matrix.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace uet::sim {
namespace {

std::string folder_of_matrices() {
  const char* set = std::getenv("UET_GOLDEN_DIR");
  return std::string(set != nullptr ? set : UET_SOURCE_DIR "/../shared/golden") + "/htsim/matrices";
}

struct Expected {
  uint32_t hosts;
  size_t flows;
  size_t triggers;
};

const std::map<std::string, Expected> kFiles = {
    {"one.cm", {16, 1, 0}},
    {"bidir.cm", {16, 2, 0}},
    {"test_cr_1f1m10p.cm", {2, 1, 0}},
    {"test_cr_1f10m1p.cm", {2, 10, 0}},
    {"test_cr_1f10m10p.cm", {2, 10, 0}},
    {"test_cr_1f1m100p.cm", {2, 1, 0}},
    {"incast.cm", {16, 15, 0}},
    {"incast_3-1_overlapped.tm", {128, 3, 0}},
    {"incast_128n_8to1_200KB.cm", {128, 8, 0}},
    {"incast_128n_8to1_2MB.cm", {128, 8, 0}},
    {"incast_128n_32to1_2MB.cm", {128, 32, 0}},
    {"incast_128n_127to1_2MB.cm", {128, 127, 0}},
    {"incast_128.cm", {128, 127, 0}},
    {"incast_collateral_128.cm", {128, 127, 0}},
    {"incast_1024_100K.cm", {1024, 1023, 0}},
    {"outcast_incast.cm", {128, 21, 0}},
    {"perm_16n_16c_2MB.cm", {16, 16, 0}},
    {"perm_32n_32c_2MB.cm", {32, 32, 0}},
    {"perm_128n_128c_2MB.cm", {128, 128, 0}},
    {"perm_128n_128c_8MB.cm", {128, 128, 0}},
    {"perm_1024n_1024c_0u_2000000b.cm", {1024, 1024, 0}},
    {"perm_1024n_1024c_8MB.cm", {1024, 1024, 0}},
    {"alltoall_serial_16n.cm", {16, 240, 224}},
    {"alltoall_32n_4par_500KB.cm", {32, 992, 224}},
    {"alltoall_128n_8x16_4par_500KB.cm", {128, 1920, 384}},
    {"allreduce_butterfly_128n_8x16_2MB.cm", {128, 512, 384}},
};

class SharedMatrixTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(folder_of_matrices())) {
      GTEST_SKIP() << "no folder " << folder_of_matrices() << "; set UET_GOLDEN_DIR";
    }
  }
  static Traffic read(const std::string& name) {
    return read_matrix_file(folder_of_matrices() + "/" + name);
  }
};

TEST_F(SharedMatrixTest, EveryFileHasTheHostsFlowsAndTriggersThatItsReadmeSays) {
  std::set<std::string> there;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of_matrices())) {
    there.insert(entry.path().filename());
  }
  for (const auto& [name, expected] : kFiles) {
    ASSERT_TRUE(there.contains(name)) << name;
    const Traffic traffic = read(name);
    EXPECT_EQ(traffic.hosts, expected.hosts) << name;
    EXPECT_EQ(traffic.flows.size(), expected.flows) << name;
    EXPECT_EQ(traffic.triggers.size(), expected.triggers) << name;
    EXPECT_EQ(traffic.problem(), "") << name;
    there.erase(name);
  }
  EXPECT_TRUE(there.empty()) << *there.begin() << " is not in the table";
}

TEST_F(SharedMatrixTest, AWrittenMatrixReadsTheSame) {
  for (const auto& [name, expected] : kFiles) {
    const std::string text = matrix_text(read(name));
    EXPECT_EQ(matrix_text(read_matrix(text, name)), text) << name;
  }
}

// Each pair of the 8 groups of 16 exchanges once: 15 flows from each host.
TEST_F(SharedMatrixTest, TheAllToAllSendsFromEachHostToFifteenOthers) {
  std::map<uint32_t, std::set<uint32_t>> to;
  for (const Flow& flow : read("alltoall_128n_8x16_4par_500KB.cm").flows) {
    EXPECT_EQ(flow.bytes, 500'000u);
    to[flow.from].insert(flow.to);
  }
  EXPECT_EQ(to.size(), 128u);
  for (const auto& [from, targets] : to) EXPECT_EQ(targets.size(), 15u) << from;
}

TEST(MatrixTest, EveryWordIsRead) {
  const Traffic t = read_matrix(
      "# made by hand\n"
      "Nodes 8\r\n"
      "Connections 5\n"
      "\n"
      "Triggers 3\n"
      "Failures 0\n"
      "0->7 id 4 start 0 size 2000000 send_done_trigger 70\n"
      "1->2 start 12.5 size 1 prio 3\n"
      "7->0 id 9 msg 1 trigger 70 size 18446744073709551615 recv_done_trigger 5\n"
      "7->0\tid 9 msg trigger 70 size 5 send_done_trigger 6\n"
      "3->4 id 1 trigger 6 size 6\n"
      "trigger id 70 oneshot\n"
      "trigger id 5 multishot\n"
      "trigger id 6 barrier count 1",
      "F");
  EXPECT_EQ(t.hosts, 8u);
  ASSERT_EQ(t.flows.size(), 5u);
  ASSERT_EQ(t.triggers.size(), 3u);
  EXPECT_EQ(t.triggers[0].kind, TriggerKind::oneshot);
  EXPECT_EQ(t.triggers[1].kind, TriggerKind::multishot);
  EXPECT_EQ(t.triggers[2].kind, TriggerKind::barrier);
  EXPECT_EQ(t.triggers[2].count, 1u);
  EXPECT_EQ(t.flows[0].from, 0u);
  EXPECT_EQ(t.flows[0].to, 7u);
  EXPECT_EQ(t.flows[0].connection, 4u);
  EXPECT_EQ(t.flows[0].bytes, 2'000'000u);
  EXPECT_EQ(t.flows[0].fires[0], 1u);  // the first trigger line
  EXPECT_EQ(t.flows[1].start.ns(), 12'500);
  EXPECT_EQ(t.flows[1].priority, 3u);
  EXPECT_EQ(t.flows[1].connection, 0u);
  EXPECT_EQ(t.flows[2].connection, 9u);
  EXPECT_EQ(t.flows[2].trigger, 1u);
  EXPECT_EQ(t.flows[2].bytes, UINT64_MAX);
  EXPECT_EQ(t.flows[2].fires[0], 0u);
  EXPECT_EQ(t.flows[3].connection, 9u);
  EXPECT_EQ(t.flows[3].fires[0], 3u);
  EXPECT_EQ(t.flows[4].trigger, 3u);
}

TEST(MatrixTest, ABarrierWithoutACountWaitsForAllThatFireIt) {
  const Traffic t = read_matrix(
      "Nodes 4\nConnections 3\nTriggers 1\n0->1 id 1 start 0 size 1 send_done_trigger 8\n"
      "1->2 id 2 start 0 size 1 send_done_trigger 8\n2->3 id 3 trigger 8 size 1\n"
      "trigger id 8 barrier\n",
      "F");
  EXPECT_EQ(t.triggers[0].count, 2u);
}

TEST(MatrixTest, WritesItsDocumentedFormat) {
  Traffic t{.hosts = 4};
  const uint32_t once = t.add(Trigger{});
  const uint32_t all = t.add(Trigger{TriggerKind::barrier, 2});
  t.add({.from = 0, .to = 1, .bytes = 10, .start = Duration::nanoseconds(1'050), .fires = {once}});
  t.add({.from = 1, .to = 2, .bytes = 20, .trigger = once, .fires = {all}, .connection = 3});
  t.add({.from = 1, .to = 2, .bytes = 20, .trigger = once, .fires = {all}, .connection = 3});
  t.add({.from = 2, .to = 3, .bytes = 30, .trigger = all, .priority = 7});
  EXPECT_EQ(matrix_text(t),
            "Nodes 4\nConnections 4\nTriggers 2\n"
            "0->1 id 1 start 1.05 size 10 send_done_trigger 1\n"
            "1->2 id 3 msg trigger 1 size 20 send_done_trigger 2\n"
            "1->2 id 3 msg trigger 1 size 20 send_done_trigger 2\n"
            "2->3 id 2 trigger 2 size 30 prio 7\n"
            "trigger id 1 oneshot\n"
            "trigger id 2 barrier count 2\n");
}

TEST(MatrixTest, TrafficThatTheFormatCannotExpressIsAnError) {
  const auto says = [](const Flow& flow) -> std::string {
    Traffic t{.hosts = 4};
    t.triggers.resize(2);
    t.add(flow);
    try {
      matrix_text(t);
    } catch (const TrafficError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(says({.from = 1, .to = 1}),
            "flow 0 (1->1): a matrix has no word for a pause of a host");
  EXPECT_EQ(says({.from = 1, .to = 2, .bytes = 1, .start = Duration::nanoseconds(1), .trigger = 1}),
            "flow 0 (1->2): a matrix has no word for a delay after a trigger");
  EXPECT_EQ(says({.from = 1, .to = 2, .bytes = 1, .fires = {1, 2}}),
            "flow 0 (1->2): a matrix has no word for a second trigger that a flow fires");
}

std::string error_of(const std::string& text) {
  try {
    read_matrix(text, "F");
  } catch (const TrafficError& e) {
    return e.what();
  }
  return "no error";
}

// The error of a file with these lines behind a right head.
std::string error_of_lines(const std::string& lines, size_t flows, size_t triggers = 0) {
  return error_of("Nodes 4\nConnections " + std::to_string(flows) + "\nTriggers " +
                  std::to_string(triggers) + "\n" + lines);
}

TEST(MatrixTest, ErrorsOfTheHeadNameTheLine) {
  EXPECT_EQ(error_of(""), "F:1: there is no line Nodes");
  EXPECT_EQ(error_of("Nodes 4\n"), "F:2: there is no line Connections");
  EXPECT_EQ(error_of("Nodes 0\n"), "F:1: Nodes is 1 to 16777216, not 0");
  EXPECT_EQ(error_of("Nodes 4x\n"), "F:1: Nodes is 1 to 16777216, not 4x");
  EXPECT_EQ(error_of("Nodes\n"), "F:1: a value is missing after Nodes");
  EXPECT_EQ(error_of("Nodes 4 4\n"), "F:1: surplus word 4");
  EXPECT_EQ(error_of("Nodes 4\nNodes 4\n"), "F:2: a second line Nodes");
  EXPECT_EQ(error_of("\nNode 4\n"),
            "F:2: what is Node? A line begins with S->D, trigger, Nodes, Connections or Triggers");
  EXPECT_EQ(error_of("Failures 1\n"), "F:1: Failures is 0 to 0, not 1");
  EXPECT_EQ(error_of("0->1 start 0 size 1\n"), "F:1: the line Nodes must come before the flows");
  EXPECT_EQ(error_of_lines("0->1 start 0 size 1\n", 2), "F:5: Connections says 2, and there are 1");
  EXPECT_EQ(error_of_lines("0->1 start 0 size 1\n", 1, 1), "F:5: Triggers says 1, and there are 0");
}

TEST(MatrixTest, ErrorsOfFlowsNameTheLine) {
  const auto flow = [](const std::string& line) { return error_of_lines(line + "\n", 1); };
  EXPECT_EQ(flow("0->4 start 0 size 1"), "F:4: a host is 0 to 3, not 4");
  EXPECT_EQ(flow("-1->2 start 0 size 1"), "F:4: a host is 0 to 3, not -1");
  EXPECT_EQ(flow("->2 start 0 size 1"), "F:4: a host is 0 to 3, not ");
  EXPECT_EQ(flow("2->2 start 0 size 1"), "F:4: a host cannot send to itself");
  EXPECT_EQ(flow("0->1 size 1"), "F:4: a flow has either a start or a trigger");
  EXPECT_EQ(flow("0->1 start 0 trigger 1 size 1"), "F:4: a flow has either a start or a trigger");
  EXPECT_EQ(flow("0->1 start 0"), "F:4: a flow needs a size");
  EXPECT_EQ(flow("0->1 start 0 size"), "F:4: a value is missing after size");
  EXPECT_EQ(flow("0->1 start 0 size 0"), "F:4: size is 1 to 18446744073709551615, not 0");
  EXPECT_EQ(flow("0->1 start 0 size 18446744073709551616"),
            "F:4: size is 1 to 18446744073709551615, not 18446744073709551616");
  EXPECT_EQ(flow("0->1 start -1 size 1"), "F:4: start is 0 to 1e+14, not -1");
  EXPECT_EQ(flow("0->1 start nan size 1"), "F:4: start is 0 to 1e+14, not nan");
  EXPECT_EQ(flow("0->1 start 0 size 1 size 1"), "F:4: a second size");
  EXPECT_EQ(flow("0->1 id 0 start 0 size 1"), "F:4: id is 1 to 4294967295, not 0");
  EXPECT_EQ(flow("0->1 msg start 0 size 1"), "F:4: a msg needs the id of its connection");
  EXPECT_EQ(flow("0->1 start 0 size 1 quickly"), "F:4: what is quickly?");
  EXPECT_EQ(flow("0->1 start 0 size 1 send_done_trigger 3"), "F:4: there is no trigger 3");
  EXPECT_EQ(error_of_lines("0->1 id 5 start 0 size 1\n0->1 id 5 start 0 size 1\n", 2),
            "F:5: id 5 is that of line 4; messages of one connection have the word msg");
  EXPECT_EQ(error_of_lines("0->1 id 5 msg start 0 size 1\n0->2 id 5 msg start 0 size 1\n", 2),
            "F:5: id 5 is that of line 4, which has other hosts");
}

TEST(MatrixTest, ErrorsOfTriggersNameTheLine) {
  const auto trigger = [](const std::string& line) {
    return error_of_lines("0->1 start 0 size 1\n" + line + "\n", 1, 1);
  };
  EXPECT_EQ(trigger("trigger oneshot"), "F:5: a trigger needs an id");
  EXPECT_EQ(trigger("trigger id 1"), "F:5: a trigger is oneshot, multishot or barrier");
  EXPECT_EQ(trigger("trigger id 0 oneshot"), "F:5: id is 1 to 4294967295, not 0");
  EXPECT_EQ(trigger("trigger id 1 twoshot"), "F:5: unknown or repeated word twoshot of a trigger");
  EXPECT_EQ(trigger("trigger id 1 oneshot barrier"),
            "F:5: unknown or repeated word barrier of a trigger");
  EXPECT_EQ(trigger("trigger id 1 oneshot count 2"), "F:5: only a barrier has a count");
  EXPECT_EQ(trigger("trigger id 1 barrier"), "F:5: no flow fires this barrier");
  EXPECT_EQ(trigger("trigger id 1 oneshot\ntrigger id 1 oneshot"),
            "F:6: trigger 1 is that of line 5");
}

TEST(MatrixTest, AFlowThatNeverBeginsIsAnError) {
  EXPECT_EQ(error_of_lines("0->1 id 1 start 0 size 1\n1->2 id 2 trigger 3 size 1\n"
                           "trigger id 3 oneshot\n",
                           2, 1),
            "F:5: the flow never begins, because its trigger does not fire often enough");
  EXPECT_EQ(error_of_lines("0->1 id 1 start 0 size 1 recv_done_trigger 3\n"
                           "1->2 id 2 trigger 3 size 1\ntrigger id 3 oneshot\n",
                           2, 1),
            "F:5: the flow never begins, because its trigger does not fire often enough (the "
            "recv_done_trigger of line 4 fires nothing: use send_done_trigger)");
}

TEST(MatrixTest, AMissingFileIsAnError) {
  EXPECT_THROW(read_matrix_file("/nowhere/F"), TrafficError);
}

// For any change of octets, words and lines: an error, or a traffic that can be run and written.
TEST(MatrixTest, RandomlyChangedFilesAreErrorsOrSound) {
  const std::string right =
      "Nodes 8\nConnections 4\nTriggers 2\n0->7 id 4 start 0 size 2000 send_done_trigger 1\n"
      "1->2 id 5 start 12.5 size 1 send_done_trigger 2\n7->0 id 9 msg trigger 1 size 5\n"
      "7->0 id 9 msg trigger 2 size 5 prio 1\ntrigger id 1 multishot\ntrigger id 2 barrier count "
      "1\n";
  const std::string words[] = {"0",    "1",        "9",        "-1",     "4294967296", "id ",
                               "msg ", "trigger ", "start ",   "size ",  "\n",         " ",
                               "->",   "nan",      "barrier ", "count ", "Nodes 2\n"};
  Rng rng(20);
  uint32_t sound = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = right;
    for (uint64_t changes = 1 + rng.below(3); changes > 0; --changes) {
      const size_t at = rng.below(text.size());
      switch (rng.below(4)) {
        case 0:
          text[at] = static_cast<char>(rng.below(256));
          break;
        case 1:
          text.erase(at, 1 + rng.below(8));
          break;
        case 2:
          text.insert(at, words[rng.below(std::size(words))]);
          break;
        default:
          text.insert(at, text.substr(rng.below(text.size()), rng.below(40)));
      }
    }
    try {
      const Traffic traffic = read_matrix(text, "F");
      ASSERT_EQ(traffic.problem(), "") << text;
      ASSERT_EQ(read_matrix(matrix_text(traffic), "G").flows.size(), traffic.flows.size()) << text;
      ++sound;
    } catch (const TrafficError& e) {
      ASSERT_EQ(std::string(e.what()).substr(0, 2), "F:") << text << e.what();
    }
  }
  EXPECT_GT(sound, 100u);
}

}  // namespace
}  // namespace uet::sim
