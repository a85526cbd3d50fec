// Frames between processes and key agents. Octets are written by hand. docs/key-agent.md
#include "keys/agent_protocol.h"

#include <gtest/gtest.h>

#include <sys/un.h>

#include <algorithm>
#include <string>
#include <vector>

namespace uet::keys {
namespace {

using Progress = FrameReader::Progress;
using Reads = FrameReader::Reads;

std::string octets(std::initializer_list<int> all) {
  std::string out;
  for (const int one : all) out += static_cast<char>(one);
  return out;
}

// Gives the reader pieces of `piece` octets; returns its last result.
Progress give(FrameReader& reader, std::string_view text, size_t piece) {
  Progress progress = Progress::more;
  while (!text.empty() && progress == Progress::more) {
    const std::span<char> room = reader.room();
    const size_t bytes = std::min({piece, text.size(), room.size()});
    std::copy_n(text.begin(), bytes, room.begin());
    text.remove_prefix(bytes);
    progress = reader.took(bytes);
  }
  EXPECT_TRUE(text.empty() || progress != Progress::more);
  return progress;
}

const std::string kKeys = octets({0, 0, 0, 4, 2}) + "abc";
const std::string kRequest = octets({0, 0, 0, 6, 1, 1}) + "prog";

TEST(AgentProtocolTest, AFrameIsALengthAKindAndABody) {
  EXPECT_EQ(frame_of(FrameKind::keys, "abc").view(), kKeys);
  EXPECT_EQ(frame_of(FrameKind::subscribe, subscription("prog")).view(), kRequest);
  EXPECT_EQ(frame_of(FrameKind::error, "").view(), octets({0, 0, 0, 1, 3}));
}

TEST(AgentProtocolTest, PiecesOfAnySizeMakeAFrame) {
  for (size_t piece = 1; piece <= kKeys.size(); ++piece) {
    FrameReader reader(Reads::answers);
    for (int times = 0; times < 2; ++times) {
      EXPECT_FALSE(reader.is_begun());
      ASSERT_EQ(give(reader, kKeys, piece), Progress::whole) << piece;
      const Frame frame = reader.take();
      EXPECT_EQ(frame.kind, FrameKind::keys);
      EXPECT_EQ(frame.body.view(), "abc");
    }
  }
}

TEST(AgentProtocolTest, NoPieceIsTheFrame) {
  for (size_t bytes = 1; bytes < kKeys.size(); ++bytes) {
    FrameReader reader(Reads::answers);
    EXPECT_EQ(give(reader, kKeys.substr(0, bytes), bytes), Progress::more) << bytes;
    EXPECT_TRUE(reader.is_begun());
  }
}

TEST(AgentProtocolTest, AnEmptyBodyIsWhole) {
  FrameReader reader(Reads::answers);
  ASSERT_EQ(give(reader, octets({0, 0, 0, 1, 2}), 5), Progress::whole);
  EXPECT_EQ(reader.take().body.view(), "");
}

// [T-43] No memory is allocated for a frame that is too long: 4 MiB of keys, 512 octets of an
// error, 64 of a name.
TEST(AgentProtocolTest, LengthsAndKindsAreJudgedByTheHead) {
  struct Row {
    Reads reads;
    std::string head;
    Progress progress;
  };
  const Row rows[] = {
      {Reads::answers, octets({0, 0x40, 0, 1, 2}), Progress::more},
      {Reads::answers, octets({0, 0x40, 0, 2, 2}), Progress::broken},
      {Reads::answers, octets({0xFF, 0xFF, 0xFF, 0xFF, 2}), Progress::broken},
      {Reads::answers, octets({0, 0, 0, 0, 2}), Progress::broken},
      {Reads::answers, octets({0, 0, 2, 1, 3}), Progress::more},
      {Reads::answers, octets({0, 0, 2, 2, 3}), Progress::broken},
      {Reads::answers, octets({0, 0, 0, 2, 1}), Progress::broken},
      {Reads::answers, octets({0, 0, 0, 2, 0}), Progress::broken},
      {Reads::answers, octets({0, 0, 0, 2, 4}), Progress::broken},
      {Reads::answers, "HTTP/", Progress::broken},
      {Reads::requests, octets({0, 0, 0, 66, 1}), Progress::more},
      {Reads::requests, octets({0, 0, 0, 67, 1}), Progress::broken},
      {Reads::requests, octets({0, 0, 0, 2, 2}), Progress::broken},
      {Reads::requests, octets({0, 0, 0, 2, 3}), Progress::broken},
  };
  for (const Row& row : rows) {
    FrameReader reader(row.reads);
    EXPECT_EQ(give(reader, row.head, 5), row.progress) << testing::PrintToString(row.head);
  }
}

TEST(AgentProtocolTest, ARequestHasAVersionAndAName) {
  const auto parsed = parse_subscription(subscription("prog"));
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->version, 1);
  EXPECT_EQ(parsed->process_name, "prog");
  EXPECT_FALSE(parse_subscription("").has_value());
  EXPECT_EQ(parse_subscription("\x02")->version, 2);
  EXPECT_EQ(subscription(std::string(100, 'x')).size(), 65u);
}

// Control characters are not shown.
TEST(AgentProtocolTest, NamesArePrintable) {
  EXPECT_EQ(parse_subscription("\x01"
                               "a\x1b[31m\n\x80")
                ->process_name,
            "a?[31m??");
}

TEST(AgentProtocolTest, PathsFitASocket) {
  sockaddr_un address{};
  EXPECT_TRUE(set_socket_path(std::string(107, 'a'), address));
  EXPECT_FALSE(set_socket_path(std::string(108, 'a'), address));
  EXPECT_FALSE(set_socket_path("", address));
}

}  // namespace
}  // namespace uet::keys
