// No counter twice: not after a restart, not after a kill, not by two processes. [TSS-043]
#include "keys/counter_marks.h"
#include "keys/key_file.h"
#include "keys/test/temporary_folder.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

namespace uet::keys {
namespace {

class CounterMarksTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string path_ = folder_.path("counters");
};

// [TSS-043]
TEST_F(CounterMarksTest, ARestartContinuesAtTheMark) {
  CounterMarks::create(path_);
  {
    CounterMarks marks(path_);
    const Reserved first = marks.reserve("aa", "10.0.0.1", 0);
    EXPECT_EQ(first.from, 0u);
    EXPECT_EQ(first.until, uint64_t{1} << 24);
    EXPECT_EQ(marks.reserve("aa", "10.0.0.1", 0, 10).from, uint64_t{1} << 24);
    EXPECT_EQ(marks.reserve("bb", "10.0.0.1", 0, 10).from, 0u) << "another key";
    EXPECT_EQ(marks.reserve("aa", "0x0a0b0c0d", 0, 10).from, 0u) << "another source";
    EXPECT_EQ(marks.reserve("cc", "0x1", uint64_t{1} << 47, 10).from, uint64_t{1} << 47)
        << "a server";
  }
  CounterMarks marks(path_);
  EXPECT_EQ(marks.reserve("aa", "10.0.0.1", 0, 1).from, (uint64_t{1} << 24) + 10);
  EXPECT_EQ(marks.reserve("bb", "10.0.0.1", 0, 1).from, 10u);
  EXPECT_EQ(marks.reserve("cc", "0x1", uint64_t{1} << 47, 1).from, (uint64_t{1} << 47) + 10);
}

// [TSS-043] Without a mark it is not known which counters were used.
TEST_F(CounterMarksTest, WithoutItsFileNothingIsReserved) {
  EXPECT_THROW(CounterMarks{path_}, KeyFileError);
  CounterMarks::create(path_);
  EXPECT_THROW(CounterMarks::create(path_), KeyFileError) << "marks are not thrown away";
  const std::string whole = [&] {
    CounterMarks(path_).reserve("aa", "s", 0, 10);
    std::ifstream in(path_);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }();
  for (size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(path_, std::ios::trunc) << whole.substr(0, size);
    EXPECT_THROW(CounterMarks{path_}, KeyFileError) << size;
  }
  std::ofstream(path_, std::ios::trunc) << whole;
  EXPECT_EQ(CounterMarks(path_).reserve("aa", "s", 0, 1).from, 10u);
}

// [TSS-042, T-16] Processes of one host have one counter space: none gets what another got.
TEST_F(CounterMarksTest, ProcessesTakeTurns) {
  constexpr int kProcesses = 4, kGrants = 25;
  CounterMarks::create(path_);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  for (int i = 0; i < kProcesses; ++i) {
    if (fork() != 0) continue;
    const CounterMarks marks(path_);
    for (int n = 0; n < kGrants; ++n) {
      const Reserved got = marks.reserve("aa", "s", 0, 7);
      if (write(ends[1], &got, sizeof got) != sizeof got) _exit(1);
    }
    _exit(0);
  }
  close(ends[1]);
  std::set<uint64_t> begins;
  Reserved got;
  while (read(ends[0], &got, sizeof got) == static_cast<ssize_t>(sizeof got)) {
    EXPECT_EQ(got.until, got.from + 7);
    EXPECT_EQ(got.from % 7, 0u);
    EXPECT_TRUE(begins.insert(got.from).second);
  }
  EXPECT_EQ(begins.size(), size_t{kProcesses} * kGrants);
  close(ends[0]);
  for (int i = 0; i < kProcesses; ++i) wait(nullptr);
}

// [TSS-043] What cannot be made durable is not granted.
TEST_F(CounterMarksTest, AMarkThatCannotBeWrittenGrantsNothing) {
  CounterMarks::create(path_);
  CounterMarks marks(path_);
  const std::string elsewhere = folder_.path("") + "elsewhere";
  std::filesystem::create_directory(elsewhere);
  std::filesystem::rename(path_, elsewhere + "/counters");
  std::filesystem::create_directories(path_ + "/in the way");
  EXPECT_THROW(marks.reserve("aa", "s", 0, 10), KeyFileError);
  std::filesystem::remove_all(path_);
  EXPECT_THROW(marks.reserve("aa", "s", 0, 10), KeyFileError);
  std::filesystem::rename(elsewhere + "/counters", path_);
  EXPECT_EQ(marks.reserve("aa", "s", 0, 10).from, 0u);
}

// [TSS-043, T-16] 200 processes, each killed at some point of reserving: no counter is in two
// grants. A process reports each grant by a pipe before it continues.
TEST_F(CounterMarksTest, KilledProcessesNeverGetTheSameCounters) {
  CounterMarks::create(path_);
  uint64_t expected_min = 0;
  uint64_t grants = 0;
  for (int round = 0; round < 200; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      CounterMarks marks(path_);
      while (true) {
        const Reserved got = marks.reserve("aa", "s", 0, 7);
        if (write(ends[1], &got, sizeof got) != sizeof got) _exit(1);
      }
    }
    close(ends[1]);
    Reserved got;
    for (int i = 0; i <= round % 3; ++i) {
      ASSERT_EQ(read(ends[0], &got, sizeof got), static_cast<ssize_t>(sizeof got));
      ASSERT_GE(got.from, expected_min);
      ASSERT_EQ(got.until, got.from + 7);
      expected_min = got.until;
      ++grants;
    }
    usleep(static_cast<useconds_t>(round * 13 % 400));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(ends[0], &got, sizeof got) == static_cast<ssize_t>(sizeof got)) {
      ASSERT_GE(got.from, expected_min);
      expected_min = got.until;
    }
    close(ends[0]);
  }
  EXPECT_GE(grants, 200u);
}

}  // namespace
}  // namespace uet::keys
