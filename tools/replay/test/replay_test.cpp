// Runs of the simulator and conformance cases, recorded and replayed: the same code gives the same
// octets, and a recording that says otherwise is found out at the right place. [architecture 7]
#include "sim/recording/replay.h"
#include "conformance/case.h"
#include "conformance/in_process.h"
#include "conformance/runner.h"
#include "sim/recording/events.h"
#include "tools/pcap/pcap_file.h"
#include "sim/simulation.h"

#include "base/rng.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

namespace uet::recording {
namespace {

namespace fs = std::filesystem;

class ReplayTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  ~ReplayTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name + ".uetrec"; }

  // Runs a seed of the simulator and reads its recording.
  Recording record(uint64_t seed) {
    const std::string file = path("seed-" + std::to_string(seed));
    std::string problem;
    const auto writer = Writer::create(file, {"a test", "seed", seed}, problem);
    EXPECT_NE(writer, nullptr) << problem;
    run_ = sim::run(sim::Plan::draw(seed), seed, writer.get());
    EXPECT_EQ(run_.violation, "");
    EXPECT_EQ(writer->finish(), "");
    Recording recording;
    EXPECT_EQ(read(file, recording), "");
    return recording;
  }

  void write(const std::string& name, const Octets& octets) {
    EXPECT_EQ(tools::write_octets(path(name), octets.data(), octets.size()), "");
  }

  // Runs uet_replay; returns its exit status, and its output in output_.
  int run_program(const std::string& arguments) {
    const std::string command = std::string(UET_REPLAY) + " " + arguments + " 2>&1";
    std::FILE* const pipe = popen(command.c_str(), "r");
    std::array<char, 4096> part{};
    output_.clear();
    while (std::fgets(part.data(), part.size(), pipe) != nullptr) output_ += part.data();
    return WEXITSTATUS(pclose(pipe));
  }

  const std::string folder_ = testing::TempDir() + "uet_replay_test";
  sim::RunResult run_;
  std::string output_;
};

// The number of the first record of that kind whose body is long enough, from 1 on.
size_t find(const Recording& recording, Kind kind, size_t octets = 1) {
  const auto found = std::ranges::find_if(recording.records, [&](const Record& r) {
    return r.kind == kind && r.body.size() >= octets;
  });
  EXPECT_NE(found, recording.records.end());
  return static_cast<size_t>(found - recording.records.begin()) + 1;
}

// The same file with an octet of a record's body changed.
Octets changed(const Recording& recording, size_t record, size_t octet) {
  Octets octets = recording.octets;
  const std::byte* const body = recording.records[record - 1].body.data();
  octets[static_cast<size_t>(body - recording.octets.data()) + octet] ^= std::byte{1};
  return octets;
}

Recording parsed(Octets octets) {
  Recording recording;
  recording.octets = std::move(octets);
  EXPECT_EQ(parse(recording), "");
  return recording;
}

// Plain, with restarts (6, 10), of several processes and clocks (4, 11), with datagrams (14).
TEST_F(ReplayTest, RunsOfTheSimulatorAreIdentical) {
  for (const uint64_t seed : {1, 4, 6, 10, 11, 14}) {
    const Recording recording = record(seed);
    const Outcome outcome = replay(recording);
    EXPECT_TRUE(outcome.is_identical()) << "seed " << seed << ": " << outcome.problem;
    EXPECT_GE(outcome.packets, run_.packets) << seed;  // those that did not leave count here, too
    EXPECT_GT(outcome.completions, 0u) << seed;
  }
}

TEST_F(ReplayTest, CasesAreIdentical) {
  std::string problem;
  uint32_t cases = 0;
  for (const auto& entry : fs::recursive_directory_iterator(UET_SOURCE_DIR "/conformance/cases")) {
    if (entry.path().extension() != ".txt") continue;
    std::vector<std::byte> text;
    ASSERT_EQ(tools::read_octets(entry.path().string(), text), "");
    conformance::Case c;
    ASSERT_EQ(conformance::read_case({reinterpret_cast<const char*>(text.data()), text.size()},
                                     entry.path().string(), c),
              "");
    const auto writer = Writer::create(path("case"), {"a test", "case", 0}, problem);
    ASSERT_NE(writer, nullptr) << problem;
    conformance::run(c, *conformance::make_in_process(c.host, problem, writer.get()), {});
    ASSERT_EQ(writer->finish(), "");
    Recording recording;
    ASSERT_EQ(read(path("case"), recording), "");
    const Outcome outcome = replay(recording);
    EXPECT_TRUE(outcome.is_identical()) << c.file << ": " << outcome.problem;
    ++cases;
  }
  EXPECT_GT(cases, 50u);
}

// No address of this process is in it.
TEST_F(ReplayTest, ARunRecordedTwiceGivesTheSameFile) {
  EXPECT_EQ(record(6).octets, record(6).octets);
}

TEST_F(ReplayTest, AChangedOctetOfAPacketIsFoundThere) {
  const Recording recording = record(1);
  // The last octet is of the digest of a payload, or its length, which is 0.
  const size_t at = find(recording, Kind::packets, 30);
  const size_t last = recording.records[at - 1].body.size() - 1;
  const Recording other = parsed(changed(recording, at, last));
  const Outcome outcome = replay(other);
  EXPECT_EQ(outcome.problem, "");
  ASSERT_TRUE(outcome.difference.has_value());
  const Difference& d = *outcome.difference;
  EXPECT_EQ(d.record, at);
  EXPECT_EQ(d.kind, Kind::packets);
  EXPECT_EQ(d.recorded.kind, Kind::packets);
  EXPECT_LT(d.call, at);
  const auto& now = recording.records[at - 1].body;
  EXPECT_EQ(d.body, Octets(now.begin(), now.end()));
}

TEST_F(ReplayTest, AChangedOctetOfOtherOutputsIsFoundThere) {
  const Recording recording = record(1);
  for (const Kind kind : {Kind::completed, Kind::ended}) {
    const size_t at = find(recording, kind);
    // The last octet of a digest.
    const size_t octet = kind == Kind::ended ? 7 : recording.records[at - 1].body.size() - 1;
    const Recording other = parsed(changed(recording, at, octet));
    const Outcome outcome = replay(other);
    ASSERT_TRUE(outcome.difference.has_value()) << name(kind) << outcome.problem;
    EXPECT_EQ(outcome.difference->record, at) << name(kind);
    EXPECT_EQ(outcome.difference->kind, kind) << name(kind);
  }
}

// The value of a return is its second field, the deadline the third.
TEST_F(ReplayTest, AnotherDeadlineIsDistinguishedFromAnotherValue) {
  const Recording recording = record(1);
  const auto found = std::ranges::find_if(recording.records, [](const Record& r) {
    Returned returned;
    return r.kind == Kind::returned && decode(r.body, returned) &&
           returned.deadline != Instant::zero() && !returned.deadline.is_never();
  });
  ASSERT_NE(found, recording.records.end());
  const auto at = static_cast<size_t>(found - recording.records.begin()) + 1;
  const Recording later = parsed(changed(recording, at, 2));
  const Outcome outcome = replay(later);
  EXPECT_FALSE(outcome.difference.has_value()) << outcome.problem;
  ASSERT_TRUE(outcome.deadline.has_value());
  EXPECT_FALSE(outcome.is_identical());
  EXPECT_EQ(outcome.deadlines, 1u);
  EXPECT_EQ(outcome.deadline->record, at);

  const Recording other = parsed(changed(recording, at, 1));
  const Outcome worse = replay(other);
  ASSERT_TRUE(worse.difference.has_value()) << worse.problem;
  EXPECT_EQ(worse.difference->record, at);
}

// The record of the block that the first send with a payload reads.
size_t find_sent_block(const Recording& recording) {
  for (const Record& r : recording.records) {
    Send send;
    if (r.kind != Kind::send || !decode(r.body, send) || send.memory.all[0].length == 0) continue;
    const auto is_block = [&](const Record& other) {
      Block block;
      return other.kind == Kind::block && other.endpoint == r.endpoint &&
             decode(other.body, block) && block.number == send.memory.all[0].block;
    };
    const auto found = std::ranges::find_if(recording.records, is_block);
    return static_cast<size_t>(found - recording.records.begin()) + 1;
  }
  ADD_FAILURE() << "nothing is sent";
  return 1;
}

// Octets that a post reads are part of the input: the packets that carry them differ.
TEST_F(ReplayTest, AChangedOctetOfTheMemoryShowsInThePackets) {
  const Recording recording = record(1);
  const size_t at = find_sent_block(recording);
  const size_t last = recording.records[at - 1].body.size() - 1;
  const Recording other = parsed(changed(recording, at, last));
  const Outcome outcome = replay(other);
  ASSERT_TRUE(outcome.difference.has_value()) << outcome.problem;
  EXPECT_GT(outcome.difference->record, at);
  EXPECT_EQ(outcome.difference->kind, Kind::packets);
}

// No contents of a file make the replay read or write outside its memory. The value decides whether
// the run differs, or is refused.
TEST_F(ReplayTest, ABrokenRecordEndsTheReplay) {
  const Recording recording = record(1);
  for (const Kind kind :
       {Kind::open_endpoint, Kind::send, Kind::rma, Kind::receive, Kind::datagrams}) {
    const size_t at = find(recording, kind);
    Recording broken = parsed(recording.octets);
    Record& record = broken.records[at - 1];
    for (size_t length = 0; length < record.body.size(); ++length) {
      broken.records[at - 1].body = recording.records[at - 1].body.first(length);
      const Outcome outcome = replay(broken);
      EXPECT_NE(outcome.problem, "") << name(kind) << " cut to " << length;
    }
  }
}

TEST_F(ReplayTest, NoChangedOctetBringsTheReplayDown) {
  constexpr uint64_t kSeed = 7;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Rng rng(kSeed);
  const Recording recording = record(13);
  uint32_t identical = 0;
  for (int turn = 0; turn < 100; ++turn) {
    Recording other;
    other.octets = recording.octets;
    other.octets[rng.below(other.octets.size())] ^= std::byte{1} << rng.below(8);
    identical += parse(other).empty() && replay(other).is_identical();
  }
  EXPECT_LT(identical,
            50u);  // some octets change nothing, such as those of packets that were spoilt
}

TEST_F(ReplayTest, TheProgramReportsIdenticalRuns) {
  record(1);
  EXPECT_EQ(run_program(folder_), 0) << output_;
  EXPECT_TRUE(output_.starts_with("identical ")) << output_;
  EXPECT_NE(
      output_.find("1 recordings: 1 identical, 0 with other deadlines only, 0 different, 0 broken"),
      std::string::npos)
      << output_;
}

TEST_F(ReplayTest, TheProgramShowsBothPacketsAndThePlace) {
  const Recording recording = record(1);
  size_t at = 0;  // packets that carry no payload: the last octet is of a header
  for (size_t i = 0; i < recording.records.size() && at == 0; ++i) {
    Packets packets;
    const Record& r = recording.records[i];
    if (r.kind != Kind::packets || !decode(r.body, packets) || packets.all.empty()) continue;
    if (packets.all.back().payload_bytes == 0) at = i + 1;
  }
  ASSERT_NE(at, 0u);
  // Before the last octet, the length of the payload.
  write("seed-1", changed(recording, at, recording.records[at - 1].body.size() - 2));
  EXPECT_EQ(run_program(folder_), 1) << output_;
  const std::string place = "record " + std::to_string(at) + ", in progress";
  EXPECT_NE(output_.find("seed 1, endpoint "), std::string::npos) << output_;
  EXPECT_NE(output_.find(place), std::string::npos) << output_;
  EXPECT_NE(output_.find("recorded: packet "), std::string::npos) << output_;
  EXPECT_NE(output_.find("now:      packet "), std::string::npos) << output_;
  EXPECT_NE(output_.find("of the headers: 0x"), std::string::npos) << output_;
  EXPECT_EQ(run_program("--json " + folder_), 1);
  EXPECT_NE(output_.find("\"record\": " + std::to_string(at)), std::string::npos) << output_;
}

TEST_F(ReplayTest, TheProgramRefusesAFileThatIsCut) {
  Octets octets = record(1).octets;
  octets.resize(octets.size() / 2);
  write("seed-1", octets);
  EXPECT_EQ(run_program(folder_), 3) << output_;
  EXPECT_NE(output_.find("uet_replay: " + path("seed-1") + ": "), std::string::npos) << output_;
}

}  // namespace
}  // namespace uet::recording
