// The frames of a recording's file, whole and broken.
#include "sim/recording/file.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace uet::recording {
namespace {

const std::string kPath = testing::TempDir() + "uet_file_test.uetrec";

Octets text(const char* words) {
  const auto* const first = reinterpret_cast<const std::byte*>(words);
  return Octets(first, first + std::strlen(words));
}

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string problem;
    const auto writer = Writer::create(kPath, {"a test", "three records", 17}, problem);
    ASSERT_NE(writer, nullptr) << problem;
    writer->append(Kind::advance, 0, text("one"));
    writer->append(Kind::packets, 200, text(""));
    writer->append(Kind::returned, 0, text("three"));
    ASSERT_EQ(writer->finish(), "");
    ASSERT_EQ(read(kPath, whole_), "");
  }
  ~FileTest() override { std::remove(kPath.c_str()); }

  // The error in these octets as a file.
  static std::string problem_of(Octets octets) {
    Recording recording;
    recording.octets = std::move(octets);
    return parse(recording);
  }

  Recording whole_;
};

TEST_F(FileTest, WrittenRecordsAreReadBack) {
  EXPECT_EQ(whole_.about.source, "a test");
  EXPECT_EQ(whole_.about.name, "three records");
  EXPECT_EQ(whole_.about.seed, 17u);
  ASSERT_EQ(whole_.records.size(), 3u);
  EXPECT_EQ(whole_.records[0].kind, Kind::advance);
  EXPECT_EQ(Octets(whole_.records[0].body.begin(), whole_.records[0].body.end()), text("one"));
  EXPECT_EQ(whole_.records[1].kind, Kind::packets);
  EXPECT_EQ(whole_.records[1].endpoint, 200u);
  EXPECT_TRUE(whole_.records[1].body.empty());
}

TEST_F(FileTest, ATruncatedFileIsRefused) {
  for (size_t length = 0; length < whole_.octets.size(); ++length) {
    const auto end = whole_.octets.begin() + static_cast<ptrdiff_t>(length);
    EXPECT_NE(problem_of(Octets(whole_.octets.begin(), end)), "") << length;
  }
}

TEST_F(FileTest, SomethingBehindTheLastRecordIsRefused) {
  Octets longer = whole_.octets;
  longer.push_back(std::byte{0});
  EXPECT_EQ(problem_of(longer), "something follows its last record");
}

TEST_F(FileTest, AnotherFormatIsRefused) {
  Octets other = whole_.octets;
  other[0] = std::byte{'U'};
  EXPECT_EQ(problem_of(other), "it is not a recording");
  Octets later = whole_.octets;
  later[7] = std::byte{1};
  EXPECT_EQ(problem_of(later), "its format is version 257, this program knows version 1");
}

TEST_F(FileTest, ALostRecordIsMissed) {
  Octets shorter = whole_.octets;
  const size_t at = static_cast<size_t>(whole_.records[0].body.data() - whole_.octets.data()) - 3;
  shorter.erase(shorter.begin() + static_cast<ptrdiff_t>(at),
                shorter.begin() + static_cast<ptrdiff_t>(at + 6));
  EXPECT_EQ(problem_of(shorter), "it has lost records");
}

TEST_F(FileTest, AMissingFolderIsReported) {
  std::string problem;
  EXPECT_EQ(Writer::create("/nowhere/x.uetrec", {}, problem), nullptr);
  EXPECT_EQ(problem, "/nowhere/x.uetrec: No such file or directory");
}

}  // namespace
}  // namespace uet::recording
